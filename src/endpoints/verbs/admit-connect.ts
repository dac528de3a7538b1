/** Admission of CONNECT. Its object is an options object, which is made from the query. */
import { admit, validateAdmission } from '../../admission/chain.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import { ownValue } from '../../base/own.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { valuesEqual } from '../../json/value-order.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { QueryParameters } from '../../request/query-parameters.ts'
import { isTrue } from '../../request/request-info.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import type { Field, Structural } from '../../schema/structural.ts'
import { admissionAttributes } from '../../admission/write-admission.ts'

/** A connection as admission has let it through. */
export interface Admitted {
  readonly scope: RequestScope
  /** For a proxy the path behind it; '' where there is none. */
  readonly path: string
}

/**
 * @param deeper the segments of the path behind a proxy
 * @returns the request with the options that mutating admission has changed
 * @throws StatusError where admission refuses
 */
export async function admitConnect(scope: RequestScope, deeper: readonly string[]): Promise<Admitted> {
  const {
    request,
    resource: { entry },
    place: { subresource },
  } = scope
  if (request.query.has('dryRun')) throw badRequest('dryRun is not supported')
  const kind = entry.subresources.find(({ name }) => name === subresource)
  if (kind === undefined) throw new Error(`assertion failed: ${entry.resource} have no ${subresource}`)
  const fields = typeOfKind(kind)?.fields ?? []
  const path = fields.some(({ name }) => name === 'path') ? pathBehind(scope, deeper) : ''
  const { path: _, ...asked } = optionsIn(request.query, fields) // the path of a proxy is no parameter
  const options: JsonObject = {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    ...asked,
    ...(path === '' ? {} : { path }),
  }
  const sent = structuredClone(options)
  // options have no metadata; plugins need metadata only of stored objects
  const object = options as unknown as KubeObject
  const of: RequestScope = { ...scope, resource: { ...scope.resource, kind } }
  const attributes = { ...admissionAttributes(of, 'CONNECT', { dryRun: false }, { object }), options: {} }
  await admit(attributes)
  await validateAdmission(attributes)
  // admission changes the options in place
  if (valuesEqual(options, sent)) return { scope, path }
  return { scope: { ...scope, request: { ...request, query: queryOf(options, fields) } }, path: pathIn(options) }
}

/** Whatever admission writes, it stays a path, and no part of the other server's name. */
function pathIn(options: JsonObject): string {
  const path = ownValue(options, 'path')
  return typeof path !== 'string' || path === '' ? '' : path.replace(/^\/?/, '/')
}

/** What a proxy passes on, and so what policies see: the path with the slashes that the client has sent. */
function pathBehind({ request: { info }, ...scope }: RequestScope, deeper: readonly string[]): string {
  const prefix = placeText(scope)
  if (!info.path.startsWith(prefix)) return deeper.length === 0 ? '' : `/${deeper.join('/')}`
  // kube-apiserver drops one of several slashes at the start
  return info.path.slice(prefix.length).replace(/^\/\//, '/')
}

/** The path of the subresource. */
export const placeText = ({ resource: { namespaced, gvr }, place }: Pick<RequestScope, 'resource' | 'place'>): string =>
  `/api/v1/${namespaced ? `namespaces/${place.namespace}/` : ''}${gvr.resource}/${place.name}/${place.subresource}`

/** The options as the query that asks for them. */
function queryOf(options: JsonObject, fields: readonly Field[]): QueryParameters {
  const query = new QueryParameters()
  for (const { name } of fields) {
    const value = ownValue(options, name) ?? []
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one))
  }
  return query
}

function optionsIn(query: QueryParameters, fields: readonly Field[]): JsonObject {
  const options: JsonObject = {}
  for (const { name, type, omit } of fields) {
    const value = valueOf(type, query.getAll(name))
    if (value !== undefined)
      options[name] = value // own key: a field of a built-in type
    else if (omit === 'never') options[name] = null // own key: a field of a built-in type
  }
  return options
}

/**
 * Undefined where the value is empty.
 * @throws StatusError 400 for a port that is no number: the node must not read another one than the policies
 */
function valueOf(type: Structural, values: readonly string[]): Json | undefined {
  const [first] = values
  if (first === undefined) return undefined
  if (type.shape === 'list') {
    const isOfPorts = type.element.shape === 'leaf' && type.element.scalar === 'int32'
    return isOfPorts
      ? values.flatMap((value) => value.split(',')).map(portIn)
      : values.map((value) => valueOf(type.element, [value]) ?? '')
  }
  if (type.shape !== 'leaf') return undefined
  switch (type.scalar) {
    case 'bool':
      return isTrue(first) ? true : undefined
    default:
      return first === '' ? undefined : first
  }
}

/** An unsigned number of 16 bits. */
function portIn(text: string): number {
  const why = !/^[0-9]+$/.test(text) ? 'invalid syntax' : Number(text) > 0xffff ? 'value out of range' : undefined
  if (why === undefined) return Number(text)
  throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`)
}
