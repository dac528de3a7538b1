/**
 * Whether mutating admission runs a second time (apiserver's reinvocation). A plugin that changes the object asks for it,
 * so that the plugins before it see the change.
 */
export class Reinvocation {
  /** Somebody asked for a second run. */
  isWanted = false
  /** This is the second run. */
  isSecond = false
  /** Data that plugins keep from the first run to the second, each under a key of its own. */
  private readonly kept = new Map<object, unknown>()

  /** @param make is its own key: a function of the module that asks */
  keep<Value>(make: () => Value): Value {
    if (!this.kept.has(make)) this.kept.set(make, make())
    // the value under a function's key is that function's result
    return this.kept.get(make) as Value
  }
}
