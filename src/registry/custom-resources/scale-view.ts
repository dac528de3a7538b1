/**
 * The scale subresource of custom resources: a view at the paths that the definition names (apiextensions' ScaleREST).
 */
import type { CustomResourceSubresourceScale } from '../../api/apiextensions/v1.ts'
import type { Scale } from '../../api/autoscaling/v1.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { badRequest, internalError, plainError } from '../../api/status.ts'
import { scaleView } from '../scale.ts'
import type { View } from '../resource.ts'
import { nestedInteger, nestedString, pathParts } from './nested.ts'

/** The replicas that a writer of a scale gets of an object that has none: int32's least. */
const UNSET = -(2 ** 31)

export function customScaleView(
  { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath }: CustomResourceSubresourceScale,
  group: string,
): View {
  const specPath = pathParts(specReplicasPath)
  const { kind } = scaleView
  const scaleOf = (object: KubeObject, replicasOfNone: number): Scale => {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
    const spec = nestedInteger(object, specPath)
    const status = nestedInteger(object, pathParts(statusReplicasPath))
    const selector = labelSelectorPath ? nestedString(object, pathParts(labelSelectorPath)) : { value: undefined }
    for (const { error } of [spec, status, selector] as { error?: string }[])
      if (error !== undefined) throw plainError(error)
    const replicas = spec.value ?? replicasOfNone
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      // a column shows no zero that the Scale leaves out
      spec: replicas === 0 ? {} : { replicas },
      status: { replicas: status.value ?? 0, ...(selector.value ? { selector: selector.value } : {}) },
    }
  }
  return {
    kind,
    get type() {
      return scaleView.type
    },
    of: (object) => scaleOf(object, 0),
    toChange: (object) => scaleOf(object, UNSET),
    /** A client can set replicas on an object that has none, but such an object has no scale to read. */
    checkRead(object) {
      const { value, error } = nestedInteger(object, specPath)
      if (error !== undefined) throw plainError(error)
      if (value === undefined)
        throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`)
    },
    into(object, view) {
      const scale = view as Scale
      const replicas = scale.spec?.replicas ?? 0
      if (replicas === UNSET)
        throw badRequest(`the spec replicas field ${JSON.stringify(specReplicasPath)} cannot be empty`)
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
