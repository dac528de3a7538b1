/** Constraints between the devices of one claim: attributes that must be equal, or distinct. */
import type { DeviceAttribute, DeviceConstraint } from '../../../api/resource/v1.ts'
import { ownValue } from '../../../base/own.ts'
import type { PoolDevice } from './pools.ts'

export interface Constraint {
  /**
   * @returns whether the device satisfies the constraint with the devices added so far. Only then remove() may follow
   */
  add(request: string, device: PoolDevice): boolean
  remove(request: string, device: PoolDevice): void
}

/** Undefined: the kind of constraint is not known here. */
export function constraintOf({ requests = [], matchAttribute, distinctAttribute }: DeviceConstraint) {
  const name = matchAttribute ?? distinctAttribute
  if (name === undefined) return undefined
  return new AttributeConstraint(new Set(requests), name, matchAttribute !== undefined)
}

class AttributeConstraint implements Constraint {
  /**
   * For each added device, the values that it shares with those before, or its own ones. Bound: the devices of a claim.
   */
  private readonly values: ReadonlySet<string>[] = []
  /** All values of the added devices, where these must be distinct. */
  private readonly taken = new Set<string>()

  constructor(
    private readonly requests: ReadonlySet<string>,
    private readonly attribute: string,
    private readonly isSame: boolean,
  ) {}

  add(request: string, device: PoolDevice): boolean {
    if (!this.isAbout(request)) return true
    const values = attributeTexts(device, this.attribute)
    if (values === undefined) return false
    const before = this.values.at(-1)
    const kept = this.isSame && before !== undefined ? values.filter((value) => before.has(value)) : values
    const fits = this.isSame ? kept.length > 0 : !values.some((value) => this.taken.has(value))
    if (!fits) return false
    this.values.push(new Set(kept))
    if (!this.isSame) for (const value of values) this.taken.add(value)
    return true
  }

  remove(request: string): void {
    if (!this.isAbout(request)) return
    const last = this.values.pop()
    if (!this.isSame) for (const value of last ?? []) this.taken.delete(value)
  }

  private isAbout(request: string): boolean {
    return this.requests.size === 0 || this.requests.has(request) || this.requests.has(parentOf(request))
  }
}

const parentOf = (request: string): string => request.split('/')[0] ?? ''

/**
 * Type and value of an attribute, or of each element of its list. A device may list it without its domain, if that is
 * the device's driver.
 */
function attributeTexts({ device: { attributes }, driver }: PoolDevice, name: string): readonly string[] | undefined {
  const found =
    ownValue(attributes, name) ??
    (name.startsWith(`${driver}/`) ? ownValue(attributes, name.slice(driver.length + 1)) : undefined)
  return found && valueTexts(found)
}

/** One value is a list of one. */
function valueTexts(attribute: DeviceAttribute): readonly string[] | undefined {
  const { string, int, bool, version, strings, ints, bools, versions } = attribute
  const lists = {
    string: strings ?? one(string),
    int: ints ?? one(int),
    bool: bools ?? one(bool),
    version: versions ?? one(version),
  }
  const [known] = Object.entries(lists).filter(([, values]) => values !== undefined)
  return known && known[1]!.map((value) => `${known[0]} ${value}`)
}

const one = <Value>(value: Value | undefined): readonly Value[] | undefined =>
  value === undefined ? undefined : [value]
