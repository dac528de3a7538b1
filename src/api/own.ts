/**
 * Objects whose keys come from clients. A client may name anything `constructor` or `__proto__`: plain index access
 * would then find what Object.prototype has, and plain assignment to `__proto__` would change the prototype.
 * `npm run check` refuses both where the key may be any text (test/check/own-keys.ts).
 */
interface Values<T> {
  readonly [key: string]: T
}

/** The value that the object itself has under this key. */
export function ownValue<T>(object: Values<T> | undefined, key: string): T | undefined {
  const value = object?.[key] // own key: what is inherited is left out below
  // Object.prototype holds functions, and under __proto__ itself; all other values are the object's own.
  const mayBeInherited = typeof value === 'function' || (value as unknown) === Object.prototype
  return mayBeInherited && !Object.hasOwn(object!, key) ? undefined : value
}

/** `object[key] = value`, also for the key `__proto__`. */
export function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  else object[key] = value // own key: all other keys are assigned as usual
}

/** Without listing its members, which takes long where they are many. Objects here inherit none that a loop sees. */
export function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}
