/** Conflicts of a server-side apply: fields that other managers own and would lose. */
import { eachPart, inParts, kept, mapParts, PART } from '../base/parts.ts'
import { SLICE } from '../base/slices.ts'
import type { Steps } from '../base/slices.ts'
import { MAX_PROBLEMS, MAX_REPORTED, StatusError } from '../api/status.ts'
import { goQuote } from '../go/quote.ts'
import { pathText } from '../schema/path-element.ts'
import { compareText } from '../json/value-order.ts'
import { workOn } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { managerKey, managerSlices } from './managers.ts'
import type { Versions } from './object-versions.ts'
import type { Managers, Owned } from './managers.ts'

/** The fields that one manager would lose. */
interface Loss {
  readonly owner: Owned
  readonly fields: FieldSet
}

/** A conflict as the answer shows it. */
interface Conflict {
  readonly owner: Owned
  readonly message: string
  readonly field: string
}

/** The fields that other managers would lose. */
export class Conflicts extends Error {
  constructor(readonly losses: readonly Loss[]) {
    super()
  }

  /** Those that are left without some fields; undefined: none. */
  without(fields: FieldSet): Conflicts | undefined {
    const left = this.losses
      .map((loss) => ({ ...loss, fields: loss.fields.difference(fields) }))
      .filter((loss) => !loss.fields.isEmpty)
    return left.length === 0 ? undefined : new Conflicts(left)
  }

  *inStatus(): Steps<StatusError> {
    const sizes = yield* inParts(() => mapParts(this.losses, ({ fields }) => fields.size, PART / SLICE))
    const count = sizes.reduce((sum, size) => sum + size, 0)
    const list = yield* inParts(() => shownOf(this.losses))
    const causes = list.map(({ message, field }) => ({ reason: 'FieldManagerConflict', message, field }))
    const [first] = list
    const text =
      count === 1
        ? `Apply failed with 1 conflict: ${first!.message}: ${first!.field}`
        : `Apply failed with ${count} conflicts: ${byOwner(list)}`
    return new StatusError(409, 'Conflict', text, { causes })
  }
}

/** The conflicts for the answer: one at least, and as many as errors of an object. */
function shownOf(losses: readonly Loss[]): readonly Conflict[] {
  const shown = kept(losses, () => ({ list: [] as Conflict[], length: 0 }))
  const isFull = (): boolean => shown.list.length >= MAX_PROBLEMS || shown.length >= MAX_REPORTED
  eachPart(losses, ({ owner, fields }) => {
    const message = `conflict with ${ownerText(owner)}`
    fields.eachPath((path) => {
      if (isFull()) return
      const field = pathText(path)
      shown.list.push({ owner, message, field })
      shown.length += message.length + field.length
    }, isFull)
    return !isFull()
  })
  return shown.list
}

function byOwner(list: readonly Conflict[]): string {
  const ofOwners = new Map<Owned, Conflict[]>()
  for (const conflict of list) {
    const ofOwner = ofOwners.get(conflict.owner)
    if (ofOwner === undefined) ofOwners.set(conflict.owner, [conflict])
    else ofOwner.push(conflict)
  }
  return [...ofOwners]
    .map(([owner, conflicts]) => ({ key: managerKey(owner), owner, conflicts }))
    .sort((a, b) => compareText(a.key, b.key))
    .flatMap(({ owner, conflicts }) => [
      `conflicts with ${ownerText(owner)}:`,
      ...conflicts.map(({ field }) => `- ${field}`),
    ])
    .join('\n')
}

function ownerText({ manager, operation, apiVersion, subresource }: Owned): string {
  const name = subresource === '' ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

export function* throwConflicts(managers: Managers, versions: Versions, applier: string): Steps<void> {
  const losses: Loss[] = []
  for (const slice of managerSlices(managers)) {
    const pairs = yield* inParts(() =>
      mapParts(slice, ([key, { apiVersion }]) => (key === applier ? undefined : versions.in(apiVersion))),
    )
    yield workOn(slice.map(([, { fields }]) => fields))
    for (const [at, [, owner]] of slice.entries()) {
      const pair = pairs[at]
      const fields = pair && owner.fields.intersection(pair.gained)
      if (fields !== undefined && !fields.isEmpty) losses.push({ owner, fields })
    }
  }
  if (losses.length > 0) throw new Conflicts(losses)
}
