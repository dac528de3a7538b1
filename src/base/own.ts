/**
 * Access to objects whose keys come from clients. A key can be `constructor` or `__proto__`. Then plain index access
 * would find a member of Object.prototype, and plain assignment to `__proto__` would change the prototype. `npm run
 * check` refuses both if the key can be any text (test/check/own-keys.ts).
 */
interface Values<T> {
  readonly [key: string]: T
}

/** The value of the object's own key. Inherited members do not count. */
export function ownValue<T>(object: Values<T> | undefined, key: string): T | undefined {
  const value = object?.[key] // own key: the last line leaves out inherited members
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

/**
 * Whether an object has no members. It does not list them, which takes long for many. No object inherits enumerable
 * ones.
 */
export function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}
