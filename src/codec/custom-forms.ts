/**
 * The forms of custom resources. kube-apiserver has them as Go maps, so members are sorted and each item of a list has
 * its kind.
 */
import { stringifySorted } from '../json/write-json.ts'
import { encodeJson } from './encode/encode.ts'
import type { ResourceForms } from './resource-forms.ts'
import { customLayout, customScaleLayout, readCustomLayout } from './table.ts'

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
  // custom resources have sorted members, but metadata in PartialObjectMetadata has the order of Go's struct
  cutsMetadata: false,
  metadataOf: 'served',
  itemsHaveKind: true,
  listMetadata: (metadata) => ({ continue: '', ...metadata }),
  listFrame: (kind, apiVersion, metadata) => ({
    head: `{"apiVersion":"${apiVersion}","items":`,
    tail: `,"kind":"${kind}","metadata":${stringifySorted(metadata)}}`,
  }),
  tableLayout: customLayout,
  readTableLayout: readCustomLayout,
}

/** The Scale of custom resources has a Go type, but kube-apiserver cannot convert it to another version. */
export const customScaleForms: ResourceForms = {
  ...customForms,
  bodies: 'custom scale',
  goTypeName: ({ kind }) => `v1.${kind}`,
  hasInternalType: false,
  objectText: encodeJson,
  tableLayout: customScaleLayout,
  readTableLayout: () => undefined,
}
