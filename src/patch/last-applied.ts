/** The annotation in which `kubectl apply` without --server-side keeps what it applied. */
import { byteLength } from '../base/utf8.ts'
import { apiVersionOf } from '../api/group-version.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import { inParts } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import { stringifySorted } from '../json/write-json.ts'
import { atomOf } from '../schema/atom.ts'
import type { FieldSet } from './field-set.ts'
import { asWritten } from './object-forms.ts'
import { fieldsIn } from './fields-of-value.ts'
import { compare } from './compare.ts'
import { checkType } from './type-problems.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import type { StructType } from '../schema/structural.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
/** The limit of all annotations together, in bytes. */
const MAX_ANNOTATIONS = 256 * 1024

/** The fields whose live value is still that of the annotation. Undefined without a usable annotation. */
export function* fieldsOfLastApplied(
  type: StructType,
  kind: GroupVersionKind,
  live: KubeObject | undefined,
): Steps<FieldSet | undefined> {
  const annotation = live?.metadata.annotations?.[LAST_APPLIED]
  if (!live || !annotation) return undefined
  try {
    const lastApplied = JSON.parse(annotation) as Json
    if (!isJsonObject(lastApplied) || lastApplied['apiVersion'] !== apiVersionOf(kind)) return undefined
    const atom = atomOf(type)
    // an API object is JSON
    const current = yield* inParts(() => asWritten(type, live as unknown as JsonObject))
    yield* inParts(() => checkType(atom, current, 'refused'))
    yield* inParts(() => checkType(atom, lastApplied, 'refused'))
    const { added, modified, removed } = yield* inParts(() => compare(atom, lastApplied, current))
    const applied = yield* inParts(() => fieldsIn(atom, lastApplied))
    return applied.difference(modified).difference(added).difference(removed)
  } catch {
    return undefined
  }
}

/** Keeps the annotation up to date, so that a later client-side apply compares with this configuration. */
export function* refreshLastApplied(object: KubeObject, config: JsonObject): Steps<void> {
  const { annotations } = object.metadata
  if (!annotations?.[LAST_APPLIED]) return
  const applied = withoutLastApplied(config)
  const text = yield* inParts(() => stringifySorted(applied))
  const next = { ...annotations, [LAST_APPLIED]: `${text}\n` }
  const size = Object.entries(next).reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0)
  if (size > MAX_ANNOTATIONS) delete (next as Record<string, string>)[LAST_APPLIED]
  object.metadata.annotations = next
}

function withoutLastApplied(config: JsonObject): JsonObject {
  const { metadata } = config
  if (!isJsonObject(metadata) || !isJsonObject(metadata['annotations'])) return config
  const { [LAST_APPLIED]: _, ...annotations } = metadata['annotations']
  return { ...config, metadata: { ...metadata, annotations } }
}
