/** Ends a call before its answer. An AbortSignal does the same, but costs as much as the call. */
export class Ending {
  why: 'too late' | 'given up' | 'no room' | undefined
  private timer: NodeJS.Timeout | undefined
  private end = (): void => {}

  at(milliseconds: number): void {
    this.timer = setTimeout(() => this.comes('too late'), milliseconds)
  }

  /** @param end ends the call; runs at once where the end has come already */
  during(end: () => void): void {
    this.end = end
    if (this.why !== undefined) end()
  }

  comes(why: 'too late' | 'given up' | 'no room'): void {
    this.why ??= why
    this.end()
  }

  forget(): void {
    clearTimeout(this.timer)
    this.end = () => {}
  }
}
