/** What an answer that is under way holds, for as long as its client takes. */
export interface AnswerUse {
  /** Called when the answer has ended, or its client has gone. */
  ended(): void
  /** @param work breaks the answer off, where it must make room for others */
  onBroken(work: () => void): void
}
