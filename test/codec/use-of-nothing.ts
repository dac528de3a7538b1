import type { AnswerUse } from '../../src/codec/encode/answer-use.ts'

/** An answer that has no place. */
export const useOfNothing: AnswerUse = { ended: () => {}, onBroken: () => {} }
