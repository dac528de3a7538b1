/** The forms of built-in resources. They are Go structs, so members have a fixed order and list items have no kind. */
import { stringify } from '../json/write-json.ts'
import { builtInType } from '../schema/built-in.ts'
import { encodeJson } from './encode/encode.ts'
import { internalTypeName } from './encode/partial-object-metadata.ts'
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
  // kube-apiserver takes the metadata of the internal version; conversion to the served version may add annotations
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
