/**
 * The descriptions in the OpenAPI documents. They are eight times as large as the schema, so a module of their own is
 * loaded for the first document.
 */
import { ownValue } from '../base/own.ts'
import { unpackedTable } from '../base/unpacked-table.ts'
import type { Describe } from '../schema/to-openapi.ts'
import type { OpenApiSettings } from './operation.ts'
import { SharedValue } from '../tenancy/shared-value.ts'

export interface OpenApiTexts {
  readonly describe: Describe
  /**
   * Hashes of the documents of built-in versions that serve all their resources. They are computed ahead, because
   * each would cost a build.
   */
  readonly knownHash: (document: string) => string | undefined
}

const loaded = new SharedValue<OpenApiTexts>()

export async function openApiTexts({ hidesEnums = false }: OpenApiSettings): Promise<OpenApiTexts> {
  const texts = await loaded.get(load)
  return hidesEnums ? withoutEnums(texts) : texts
}

const withoutEnums = ({ describe }: OpenApiTexts): OpenApiTexts => ({
  describe: Object.assign((model: string, field: string) => beforeEnum(describe(model, field)), { hidesEnums: true }),
  knownHash: () => undefined,
})

const ENUM = 'Possible enum values:'

function beforeEnum(text: string | undefined): string | undefined {
  const at = text?.indexOf(ENUM) ?? -1
  return at < 0 ? text : text?.slice(0, at).trim()
}

async function load(): Promise<OpenApiTexts> {
  const table = await unpackedTable((await import('./texts-table.json')).default)
  const texts: readonly string[] = table.texts
  // TypeScript types a JSON module by its literals; here names are looked up that are known only at run time
  const models = table.models as unknown as Readonly<Record<string, readonly [own: number, fields: string]>>
  const hashes: Readonly<Record<string, string>> = table.hashes
  const fieldsOf = new Map<string, ReadonlyMap<string, number>>()
  const describe: Describe = (model, field) => {
    const row = ownValue(models, model)
    if (row === undefined) return undefined
    const [own, fields] = row
    if (field === '') return texts[own]
    let indexes = fieldsOf.get(model)
    if (indexes === undefined) fieldsOf.set(model, (indexes = indexesOf(fields)))
    const index = indexes.get(field)
    return index === undefined ? undefined : texts[index]
  }
  return { describe, knownHash: (document) => ownValue(hashes, document) }
}

const indexesOf = (fields: string): ReadonlyMap<string, number> =>
  new Map(
    fields.split(' ').map((word) => {
      const colon = word.lastIndexOf(':')
      return [word.slice(0, colon), Number(word.slice(colon + 1))]
    }),
  )
