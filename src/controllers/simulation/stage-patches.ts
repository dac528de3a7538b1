/** The patches of a Stage's steps. Their templates, executed with a pod, produce YAML. */
import type { Pod } from '../../api/core/v1.ts'
import { plainJson } from '../../json/json.ts'
import { stringify } from '../../json/write-json.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { loadYaml, yamlReader } from '../../codec/yaml/reader.ts'
import type { TemplateFunction } from '../../go/template/execute.ts'
import { runTemplate } from '../../go/template/execute.ts'
import type { Value } from '../../go/template/functions.ts'
import { TemplateError } from '../../go/template/tokens.ts'
import type { FinalizerChange, StagePatch } from '../../registry/simulation/stages.ts'
import type { NodeFacts } from './pod-lifecycle.ts'
import { podIPsOf } from './pod-lifecycle.ts'

const TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

/** The addresses of a pod's node. */
export type PlaceOfPod = Pick<NodeFacts, 'hostIPs' | 'allocateIP' | 'podIPs'>

interface RenderedPatch {
  readonly type: (typeof TYPES)[keyof typeof TYPES]
  readonly body: Json
}

/**
 * Undefined if the template produces nothing.
 * @throws TemplateError
 */
export async function renderedPatch(
  { type, root, template }: StagePatch,
  pod: KubeObject & Pod,
  place: PlaceOfPod,
  now: Date,
): Promise<RenderedPatch | undefined> {
  const functions = functionsOf(pod, place, now)
  const value = await parsed(runTemplate(template, pod as unknown as Value, functions)) // an API object is JSON
  if (value === null) return undefined
  const { uid = '' } = pod.metadata
  // the patch fails if another pod has the same name
  if (type === 'json')
    return { type: TYPES.json, body: [{ op: 'test', path: '/metadata/uid', value: uid }, ...jsonPatch(value, root)] }
  if (!isJsonObject(value)) throw new TemplateError('what the template makes is no object')
  const body = root === '' ? value : { [root]: value }
  return {
    type: TYPES[type],
    body: { ...body, metadata: { ...(isJsonObject(body['metadata']) ? body['metadata'] : {}), uid } },
  } // own key: written here
}

async function parsed(text: string): Promise<Json> {
  await loadYaml()
  const { YamlError, parseYaml } = yamlReader()
  try {
    return plainJson(parseYaml(text).tree)
  } catch (error) {
    if (error instanceof YamlError) throw new TemplateError(`what the template makes is no YAML: ${error.message}`)
    throw error
  }
}

function jsonPatch(value: Json, root: string): readonly Json[] {
  if (!Array.isArray(value)) throw new TemplateError('what the template makes is no list of operations')
  if (root === '') return value
  return value.map((one) => (isJsonObject(one) ? { ...one, path: `/${root}${String(one['path'] ?? '')}` } : one))
}

/** Undefined if the finalizers do not change. */
export function finalizersAfter(
  before: readonly string[],
  { add, remove, isEmptied }: FinalizerChange,
): readonly string[] | undefined {
  const removed = new Set(remove)
  const after = [...new Set([...(isEmptied ? [] : before.filter((name) => !removed.has(name))), ...add])]
  return JSON.stringify(after) === JSON.stringify(before) ? undefined : after
}

const CONDITIONS: readonly (readonly [type: string, status: string, reason: string, message: string])[] = [
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['NetworkUnavailable', 'False', 'RouteCreated', 'RouteController created a route'],
]

/**
 * The functions of KWOK's templates. All functions for addresses return those of this pod and its node, whatever names
 * the template passes.
 */
function functionsOf(pod: KubeObject & Pod, place: PlaceOfPod, now: Date): ReadonlyMap<string, TemplateFunction> {
  const { hostIPs } = place
  const [hostIP = ''] = hostIPs
  const podIPs = (): readonly string[] => {
    const ips = podIPsOf(pod, pod.status?.podIP, place)
    // keeps the addresses, so that a second call returns the same ones
    if (pod.spec?.hostNetwork !== true)
      pod.status = { ...pod.status, podIP: ips[0] ?? '', podIPs: ips.map((ip) => ({ ip })) }
    return ips
  }
  const podIP = (): Value => podIPs()[0] ?? ''
  const time = now.toISOString()
  return new Map<string, TemplateFunction>([
    ['Quote', (value = null) => JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value))],
    ['Now', () => time],
    ['StartTime', () => pod.metadata.creationTimestamp ?? time],
    ['YAML', (value = null, indent = 0) => yamlOf(value, Number(indent))],
    ['Version', () => 'simulated'],
    ['NodeConditions', () => CONDITIONS.map(([type, status, reason, message]) => ({ type, status, reason, message }))],
    ['NodeIP', () => hostIP],
    ['NodeIPWith', () => hostIP],
    ['NodeName', () => pod.spec?.nodeName ?? ''],
    ['NodePort', () => 10250],
    ['PodIP', podIP],
    ['PodIPWith', podIP],
    ['NodeIPs', () => [...hostIPs]],
    ['NodeIPsWith', () => [...hostIPs]],
    ['PodIPs', () => [...podIPs()]],
    ['PodIPsWith', () => [...podIPs()]],
  ])
}

/** One member per line. Its value is JSON, which is valid YAML. */
function yamlOf(value: Value, indent: number): string {
  const lines =
    typeof value === 'object' && value !== null
      ? Array.isArray(value)
        ? value.map((item) => `- ${stringify(item as Json)}`)
        : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${stringify(one as Json)}`)
      : [stringify(value as Json)]
  if (!(indent > 0)) return `${lines.join('\n')}\n`
  const pad = ' '.repeat(2 * Math.min(indent, 32))
  return lines.map((line) => `\n${pad}${line}`).join('')
}
