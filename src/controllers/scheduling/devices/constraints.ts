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
  /** The attribute's values of the added devices, in that order. Bound: the devices of a claim. */
  private readonly values: string[] = []

  constructor(
    private readonly requests: ReadonlySet<string>,
    private readonly attribute: string,
    private readonly isSame: boolean,
  ) {}

  add(request: string, device: PoolDevice): boolean {
    if (!this.isAbout(request)) return true
    const value = attributeText(device, this.attribute)
    if (value === undefined) return false
    const fits = this.isSame ? this.values.every((other) => other === value) : !this.values.includes(value)
    if (fits) this.values.push(value)
    return fits
  }

  remove(request: string): void {
    if (this.isAbout(request)) this.values.pop()
  }

  private isAbout(request: string): boolean {
    return this.requests.size === 0 || this.requests.has(request) || this.requests.has(parentOf(request))
  }
}

const parentOf = (request: string): string => request.split('/')[0] ?? ''

/** Type and value of an attribute. A device may list it without its domain, if that is the device's driver. */
function attributeText({ device: { attributes }, driver }: PoolDevice, name: string): string | undefined {
  const found =
    ownValue(attributes, name) ??
    (name.startsWith(`${driver}/`) ? ownValue(attributes, name.slice(driver.length + 1)) : undefined)
  return found && valueText(found)
}

function valueText({ string, int, bool, version }: DeviceAttribute): string | undefined {
  const [known] = Object.entries({ string, int, bool, version }).filter(([, value]) => value !== undefined)
  return known && known.map(String).join(' ')
}
