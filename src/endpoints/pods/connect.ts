/**
 * Streams to pods: log, exec, attach, portforward. There are no kubelets behind this server, so that it answers as the
 * reference does to pods that run nowhere, or on nodes that cannot be reached.
 */
import type { Container, Node, Pod } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { FieldPath, forbiddenField, invalidValue, path } from '../../api/field.ts'
import { badRequest, invalid, notFound, plainError } from '../../api/status.ts'
import { negotiateOutput } from '../../codec/negotiate.ts'
import { answerHeaders } from '../../codec/respond.ts'
import { readLive } from '../../registry/store.ts'
import { parseTime, TimeError } from '../../schema/time.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { NOT_NEGATIVE } from '../../validation/field-rules.ts'
import { visitContainers } from '../../validation/pod/visit-containers.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { QueryParameters } from '../../request/query-parameters.ts'

const KUBELET_PORT = 10250

/** GET pods/NAME/log */
export async function log(scope: RequestScope): Promise<Response> {
  const { request, name } = scope
  negotiateOutput(request, { kind: 'object', custom: false })
  const errors = validateLogOptions(request.query)
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors)
  const pod = await podOf(scope)
  containerOf(pod, request.query.get('container') ?? '')
  // nothing was written by what never ran
  if (!pod.spec?.nodeName) {
    const { 'Content-Type': _, ...headers } = answerHeaders('')
    return new Response(null, { status: 204, headers })
  }
  throw await unreachable(scope, pod.spec.nodeName)
}

export async function execOrAttach(scope: RequestScope): Promise<Response> {
  const pod = await podOf(scope)
  containerOf(pod, scope.request.query.get('container') ?? '')
  return stream(scope, pod)
}

export async function portForward(scope: RequestScope): Promise<Response> {
  return stream(scope, await podOf(scope))
}

async function stream(scope: RequestScope, { spec }: Pod): Promise<Response> {
  if (!spec?.nodeName) throw badRequest(`pod ${scope.name} does not have a host assigned`)
  const refusal = await unreachable(scope, spec.nodeName)
  const upgrades = /\bupgrade\b/i.test(scope.request.headers.get('Connection') ?? '')
  throw refusal.code === 500 && !upgrades ? badRequest('Upgrade request required') : refusal
}

async function podOf(scope: RequestScope): Promise<Pod> {
  const live = await readLive(scope, scope.name)
  if (live === undefined) throw notFound(scope.resource, scope.name)
  return live.object as Pod
}

/** @throws 400 */
function containerOf({ metadata, spec = {} }: Pod, name: string): void {
  const all: readonly Container[] = visitContainers(spec, path('spec')).map(({ container }) => container)
  const names = all.map((container) => container.name ?? '')
  if (name !== '') {
    if (!names.includes(name)) throw badRequest(`container ${name} is not valid for pod ${metadata.name}`)
    return
  }
  const containers = (spec.containers ?? []).length
  const needed = `a container name must be specified for pod ${metadata.name}`
  if (containers === 0) throw badRequest(needed)
  if (containers > 1) throw badRequest(`${needed}, choose one of: [${names.join(' ')}]`)
}

/** Why the node of a pod cannot be asked. */
async function unreachable({ request }: RequestScope, nodeName: string) {
  const nodes = { group: '', resource: 'nodes' }
  const node = await storedObject<Node>(request, nodes, nodeName)
  if (node === undefined) return notFound(nodes, nodeName)
  const addresses = node.status?.addresses ?? []
  const address = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
    .map((type) => addresses.find((candidate) => candidate.type === type)?.address)
    .find((found) => found !== undefined)
  if (address === undefined) return plainError('no preferred addresses found; known addresses: []')
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT
  return plainError(`error dialing backend: dial tcp ${address}:${port}: connect: connection refused`)
}

/** A whole number of the query. @throws 400 */
function integer(query: QueryParameters, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return Number(text)
}

function validateLogOptions(query: QueryParameters): FieldError[] {
  const sinceSeconds = integer(query, 'sinceSeconds')
  const sinceTime = query.get('sinceTime')
  checkTime(sinceTime)
  const tailLines = integer(query, 'tailLines')
  const limitBytes = integer(query, 'limitBytes')
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0) errors.push(invalidValue(path('tailLines'), tailLines, NOT_NEGATIVE))
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalidValue(path('limitBytes'), limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && sinceTime !== null)
    errors.push(forbiddenField(FieldPath.root.key(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(invalidValue(path('sinceSeconds'), sinceSeconds, 'must be greater than 0'))
  if (query.get('stream') !== null) errors.push(forbiddenField(path('stream'), 'may not be specified'))
  return errors
}

function checkTime(text: string | null): void {
  if (text === null || text === '') return
  try {
    parseTime(text)
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message)
    throw error
  }
}
