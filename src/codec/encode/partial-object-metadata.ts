/** PartialObjectMetadata and its list: objects with their metadata alone (meta.k8s.io). */
import type { GroupKind } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type { StatusError } from '../../api/status.ts'
import { StatusError as Refusal } from '../../api/status.ts'
import { builtInType } from '../../schema/built-in.ts'
import type { StructType } from '../../schema/structural.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

export type MetaVersion = 'v1' | 'v1beta1'

export const metaApiVersion = (version: MetaVersion): string => `meta.k8s.io/${version}`

export const partialObjectMetadataType = (): StructType => builtInType(`${META}.PartialObjectMetadata`)

export function partialObjectMetadata({ metadata }: KubeObject, version: MetaVersion): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion(version), metadata }
}

/** @param annotation see Presentation.internalAnnotation */
export function withoutInternalAnnotation(object: KubeObject, annotation: string | undefined): KubeObject {
  const { annotations = {} } = object.metadata
  if (annotation === undefined || ownValue(annotations, annotation) === undefined) return object
  const { [annotation]: _, ...others } = annotations
  return { ...object, metadata: { ...object.metadata, annotations: others } }
}

/** Like partialObjectMetadata, as JSON text. @param metadata JSON in the order of Go's struct */
export const partialObjectMetadataText = (metadata: string, version: MetaVersion): string =>
  `{"kind":"PartialObjectMetadata","apiVersion":"${metaApiVersion(version)}","metadata":${metadata}}`

const refusal = (message: string): StatusError => new Refusal(406, 'NotAcceptable', message)

/** @param goType the internalTypeName of the list */
export const requestedObject = (goType: string): StatusError =>
  refusal(`you requested PartialObjectMetadata, but the requested object is a list (*${goType})`)

/** unstructured.Unstructured may contain a list, so kube-apiserver has another error for custom resources. */
export const requestedList = (goType: string): StatusError =>
  goType === 'unstructured.Unstructured'
    ? new Refusal(500, undefined, 'content is not a list')
    : refusal(`you requested PartialObjectMetadataList, but the requested object is not a list (*${goType})`)

/** Go packages of internal types whose name is not the first label of their API group. */
const internalPackages: Readonly<Record<string, string>> = {
  '': 'core',
  'events.k8s.io': 'core',
  'internal.apiserver.k8s.io': 'apiserverinternal',
}

/** Go's name of kube-apiserver's internal type for a built-in kind: `core.ConfigMap`. */
export const internalTypeName = ({ group, kind }: GroupKind): string =>
  `${ownValue(internalPackages, group) ?? group.split('.', 1)[0]!}.${kind}`
