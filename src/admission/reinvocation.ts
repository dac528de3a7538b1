/**
 * Whether mutating admission runs a second time (apiserver's reinvocation). A plugin that changes the object asks for it,
 * so that the plugins before it see the change.
 */
export class Reinvocation {
  /** A plugin has asked for a second run. */
  isWanted = false
  /** This is the second run. */
  isSecond = false
  /** Data that plugins keep from the first run to the second. Each has its own key. */
  private readonly kept = new Map<object, unknown>()

  /** @param make a function at module level, which is also the key */
  keep<Value>(make: () => Value): Value {
    if (!this.kept.has(make)) this.kept.set(make, make())
    // the value under a function is the function's result
    return this.kept.get(make) as Value
  }
}
