/**
 * The scale subresource of custom resources: a view at the paths that the definition names (apiextensions' ScaleREST).
 */
import type { CustomResourceSubresourceScale } from '../../api/apiextensions/v1.ts'
import type { Scale } from '../../api/autoscaling/v1.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { badRequest, internalError } from '../../api/status.ts'
import { scaleView } from '../scale.ts'
import type { View } from '../resource.ts'
import { nestedInteger, nestedString, pathParts } from './nested.ts'

export function customScaleView(
  { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath }: CustomResourceSubresourceScale,
  group: string,
): View {
  const specPath = pathParts(specReplicasPath)
  const { kind } = scaleView
  return {
    kind,
    get type() {
      return scaleView.type
    },
    of(object): KubeObject {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
      const spec = nestedInteger(object, specPath)
      const status = nestedInteger(object, pathParts(statusReplicasPath))
      const selector = labelSelectorPath ? nestedString(object, pathParts(labelSelectorPath)) : { value: undefined }
      for (const { error } of [spec, status, selector] as { error?: string }[])
        if (error !== undefined) throw internalError(error)
      const scale: Scale = {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: spec.value ?? 0 },
        status: { replicas: status.value ?? 0, ...(selector.value ? { selector: selector.value } : {}) },
      }
      return scale
    },
    /** A client can set replicas on an object that has none, but such an object has no scale to read. */
    checkRead(object) {
      if (nestedInteger(object, specPath).value === undefined)
        throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`)
    },
    into(object, view) {
      const scale = view as Scale
      const replicas = scale.spec?.replicas ?? 0
      setNested(object as unknown as JsonObject, specPath, replicas, specReplicasPath)
      if (scale.metadata.resourceVersion) object.metadata.resourceVersion = scale.metadata.resourceVersion
    },
    replicasIn: (apiVersion) =>
      parseApiVersion(apiVersion)?.group === group ? specPath.map((name) => `f:${name}` as const) : undefined,
  }
}

function setNested(object: JsonObject, parts: readonly string[], value: Json, text: string): void {
  let parent = object
  for (const name of parts.slice(0, -1)) {
    const below = ownValue(parent, name) ?? {}
    if (!isJsonObject(below)) throw badRequest(`value cannot be set because ${text} is not a map[string]interface{}`)
    setOwn(parent, name, below)
    parent = below
  }
  setOwn(parent, parts.at(-1)!, value)
}
