/**
 * Custom resources. kube-apiserver holds them as Go maps, so their members are sorted and each item of a list has its
 * kind.
 */
import { stringifySorted } from '../api/write-json.ts'
import { encodeJson } from './encode.ts'
import type { ResourceForms } from './resource-forms.ts'
import { customLayout, customScaleLayout } from './table.ts'

export const customForms: ResourceForms = {
  matchesFirst: false,
  hasProtobuf: false,
  hasStrategicMergePatch: false,
  hasTable: true,
  bodies: 'unstructured',
  hasInternalType: true,
  goTypeName: ({ kind }) => (kind.endsWith('List') ? 'unstructured.UnstructuredList' : 'unstructured.Unstructured'),
  objectText: (_type, object) => stringifySorted(object),
  messageType: () => undefined,
  listType: () => undefined,
  // members of the object are sorted, those of its metadata are not
  cutsMetadata: false,
  metadataOf: 'served',
  itemsHaveKind: true,
  listMetadata: (metadata) => ({ continue: '', ...metadata }),
  listFrame: (kind, apiVersion, metadata) => ({
    head: `{"apiVersion":"${apiVersion}","items":`,
    tail: `,"kind":"${kind}","metadata":${stringifySorted(metadata)}}`,
  }),
  tableLayout: customLayout,
}

/** The Scale of custom resources has a Go type, but kube-apiserver cannot convert it to another version. */
export const customScaleForms: ResourceForms = {
  ...customForms,
  bodies: 'custom scale',
  hasInternalType: false,
  objectText: encodeJson,
  tableLayout: customScaleLayout,
}
