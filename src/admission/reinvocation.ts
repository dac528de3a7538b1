/**
 * Whether mutating admission runs a second time: a plugin that changed an object late asks for that, so that those before
 * it see what it did (apiserver's reinvocation).
 */
export class Reinvocation {
  /** Somebody asked for a second run. */
  isWanted = false
  /** This is the second run. */
  isSecond = false
  /** What plugins keep from the first run to the second, each under a key of its own. */
  private readonly kept = new Map<object, unknown>()

  /** @param make is its own key: a function of the module that asks */
  keep<Value>(make: () => Value): Value {
    if (!this.kept.has(make)) this.kept.set(make, make())
    // what is kept under a function is what it made
    return this.kept.get(make) as Value
  }
}
