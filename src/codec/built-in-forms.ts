/** Built-in resources: Go structs, whose members have an order. Lists name the kind of their items once. */
import { stringify } from '../api/write-json.ts'
import { builtInType } from '../schema/built-in.ts'
import { encodeJson } from './encode.ts'
import { internalTypeName } from './partial-object-metadata.ts'
import type { ResourceForms } from './resource-forms.ts'
import { builtInLayout } from './table.ts'

export const builtInForms: ResourceForms = {
  matchesFirst: true,
  hasProtobuf: true,
  hasStrategicMergePatch: true,
  hasTable: true,
  bodies: 'typed',
  hasInternalType: true,
  goTypeName: internalTypeName,
  objectText: encodeJson,
  messageType: (type) => type,
  listType: (name) => builtInType(`${name}List`),
  cutsMetadata: true,
  // the metadata of kube-apiserver's internal version, to which no conversion to another version has added anything
  metadataOf: 'stored',
  itemsHaveKind: false,
  listMetadata: (metadata) => metadata,
  listFrame: (kind, apiVersion, metadata) => ({
    head: `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${stringify(metadata)},"items":`,
    tail: '}',
  }),
  tableLayout: builtInLayout,
}

export const builtInFormsWithoutTable: ResourceForms = { ...builtInForms, hasTable: false }
