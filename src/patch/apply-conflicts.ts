/** Conflicts of a server-side apply: fields that other managers own and would lose. */
import { StatusError } from '../api/status.ts'
import { goQuote } from '../go/quote.ts'
import { pathText } from '../schema/path-element.ts'
import type { FieldPathElements } from '../schema/path-element.ts'
import { compareText } from '../api/value-order.ts'
import { managerKey } from './managers.ts'
import type { Versions } from './object-versions.ts'
import type { Managers, Owned } from './managers.ts'

interface Conflict {
  readonly owner: Owned
  readonly path: FieldPathElements
}

/** The fields that other managers would lose. */
export class Conflicts extends Error {
  constructor(readonly list: readonly Conflict[]) {
    super()
  }

  toStatus(): StatusError {
    const { list } = this
    const causes = list.map(({ owner, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${ownerText(owner)}`,
      field: pathText(path),
    }))
    const [first] = list
    const text =
      list.length === 1
        ? `Apply failed with 1 conflict: conflict with ${ownerText(first!.owner)}: ${pathText(first!.path)}`
        : `Apply failed with ${list.length} conflicts: ${byOwner(list)}`
    return new StatusError(409, 'Conflict', text, { causes })
  }
}

function byOwner(list: readonly Conflict[]): string {
  const paths = new Map<string, Conflict[]>()
  for (const conflict of list) {
    const key = managerKey(conflict.owner)
    paths.set(key, [...(paths.get(key) ?? []), conflict])
  }
  return [...paths]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([, conflicts]) => [
      `conflicts with ${ownerText(conflicts[0]!.owner)}:`,
      ...conflicts.map(({ path }) => `- ${pathText(path)}`),
    ])
    .join('\n')
}

function ownerText({ manager, operation, apiVersion, subresource }: Owned): string {
  const name = subresource === '' ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

export function throwConflicts(managers: Managers, versions: Versions, applier: string): void {
  const list: Conflict[] = []
  for (const [key, owner] of managers) {
    const pair = key === applier ? undefined : versions.in(owner.apiVersion)
    if (pair === undefined) continue
    for (const path of owner.fields.intersection(pair.gained).paths()) list.push({ owner, path })
  }
  if (list.length > 0) throw new Conflicts(list)
}
