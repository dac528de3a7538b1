/** Admission of CONNECT. Its object is an options object, which is made from the query. */
import { admit, validateAdmission } from '../admission/chain.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import type { QueryParameters } from '../request/query-parameters.ts'
import { typeOfKind } from '../schema/built-in.ts'
import type { Field, Structural } from '../schema/structural.ts'
import { admissionAttributes } from '../admission/write-admission.ts'

/**
 * @param deeper the path behind a proxy
 * @throws StatusError where admission refuses
 */
export async function admitConnect(scope: RequestScope, deeper: readonly string[]): Promise<void> {
  const {
    request,
    resource: { entry },
    place: { subresource },
  } = scope
  const kind = entry.subresources.find(({ name }) => name === subresource)
  if (kind === undefined) throw new Error(`assertion failed: ${entry.resource} have no ${subresource}`)
  const options = {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    ...optionsIn(request.query, typeOfKind(kind)?.fields ?? []),
    ...(deeper.length === 0 ? {} : { path: `/${deeper.join('/')}` }),
  }
  // options have no metadata; plugins need metadata only of stored objects
  const object = options as unknown as KubeObject
  const of: RequestScope = { ...scope, resource: { ...scope.resource, kind } }
  const attributes = { ...admissionAttributes(of, 'CONNECT', { dryRun: false }, { object }), options: {} }
  await admit(attributes)
  await validateAdmission(attributes)
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

/** Undefined where the value is empty. */
function valueOf(type: Structural, values: readonly string[]): Json | undefined {
  const [first] = values
  if (first === undefined) return undefined
  if (type.shape === 'list') return values.map((value) => valueOf(type.element, [value]) ?? '')
  if (type.shape !== 'leaf') return undefined
  switch (type.scalar) {
    case 'bool':
      return first !== 'false' && first !== '0' ? true : undefined
    case 'int32':
      return Number(first)
    default:
      return first === '' ? undefined : first
  }
}
