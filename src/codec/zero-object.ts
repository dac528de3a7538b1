/** Objects with nothing in them but their version: what bookmarks carry. */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, groupKindText } from '../api/group-version.ts'
import type { ObjectMeta } from '../api/meta/v1.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'

/**
 * Members of the storage version that are there although nobody set them: kube-apiserver's internal types hold numbers
 * where the published ones have pointers.
 */
const filled: Readonly<Record<string, () => JsonObject>> = {
  'Deployment.apps': () => ({ spec: { replicas: 0 } }),
  'ReplicaSet.apps': () => ({ spec: { replicas: 0 } }),
  'StatefulSet.apps': () => ({ spec: { replicas: 0 } }),
}

/** Annotations that are there likewise. */
const annotated: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'DaemonSet.apps': { 'deprecated.daemonset.template.generation': '0' },
}

export function zeroObject(kind: GroupVersionKind, metadata: ObjectMeta): KubeObject {
  const name = groupKindText(kind)
  const annotations =
    ownValue(annotated, name) === undefined
      ? {}
      : { annotations: { ...ownValue(annotated, name), ...metadata.annotations } }
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: { ...metadata, ...annotations },
    ...ownValue(filled, name)?.(),
  }
}
