import { noteFault } from '../request/fault.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { atOnce, inTurns, turnOfOthers } from '../api/slices.ts'
import type { Steps } from '../api/slices.ts'
import { negotiateOutput, negotiatePatchType } from '../codec/negotiate.ts'
import { respondObject } from '../codec/respond.ts'
import { appliedYaml } from '../patch/applied-yaml.ts'
import { decodePatched } from '../patch/decode-patched.ts'
import { managerOfUserAgent } from '../patch/managed-fields.ts'
import type { BodyFormat } from '../codec/parse-body.ts'
import type { Patch } from '../patch/patch-types.ts'
import { patchTypes } from '../patch/patch-types.ts'
import { resetFieldsOf } from '../patch/reset-fields.ts'
import { guaranteedUpdate } from '../registry/store.ts'
import { parsePatchOptions } from '../request/options.ts'
import { applyDefaults } from '../schema/defaulting.ts'
import type { StructType } from '../schema/structural.ts'
import { admitMutating } from './admit-mutating.ts'
import { admissionAttributes, validatingOf } from './admission-attributes.ts'
import { authorizeCreate } from './authorize-create.ts'
import { checkName } from './check-name.ts'
import { afterConversion, convertVersion } from '../registry/convert-version.ts'
import { notePatch, readBody } from './decode-body.ts'
import { dropDuplicateOwners } from './owner-references.ts'
import { inRequestVersion } from '../registry/converted.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { defaultingOf, endpointKind, endpointType, hasStatus, storedAs } from '../registry/resource-scope.ts'
import { throughView } from './through-view.ts'

const APPLY = 'application/apply-patch+yaml'

const patchFormats: Readonly<Record<string, BodyFormat>> = { [APPLY]: 'yaml', 'application/apply-patch+cbor': 'cbor' }

const noYaml = (): never => {
  throw new Error('assertion failed: only what is applied is YAML')
}

export async function patch(scope: ResourceScope): Promise<Response> {
  const { request, name, view } = scope
  const patchType = negotiatePatchType(request, { custom: scope.custom })
  const output = negotiateOutput(request, { kind: 'object', custom: scope.custom })
  const body = await readBody(request)
  const applies = patchType === APPLY
  const isCustomScale = scope.custom && view !== undefined
  const options = parsePatchOptions(request.query, applies)
  const applyPatch: Patch = patchTypes[patchType === 'application/apply-patch+cbor' ? APPLY : patchType]
  const parseYaml = applyPatch === patchTypes[APPLY] ? await appliedYaml(body) : noYaml

  notePatch(request, patchFormats[patchType] ?? 'json', body)

  const defaults = (type: StructType, object: JsonObject): void => applyDefaults(type, object, defaultingOf(scope))
  const patching = (live: KubeObject | undefined): Steps<KubeObject> =>
    applyPatch({
      type: endpointType(scope),
      kind: endpointKind(scope),
      resource: scope.resource,
      name,
      subresource: scope.subresource,
      live,
      body,
      manager: options.fieldManager || managerOfUserAgent(request.headers.get('User-Agent') ?? 'unknown'),
      force: options.force === true,
      fieldValidation: options.fieldValidation,
      now: request.now,
      resetFields: resetFieldsOf(
        storedAs(scope),
        scope.subresource,
        hasStatus(scope),
        scope.custom,
        apiVersionOf(scope.kind),
      ),
      convert: convertVersion(scope),
      afterConversion: (object) => afterConversion(scope, object),
      isCustomScale,
      decode: (tree) => decodePatched(endpointType(scope), endpointKind(scope), tree, defaults, !isCustomScale),
      applyDefaults: (object) => defaults(endpointType(scope), object),
      parseYaml,
      untracked: (error) => noteFault('managedFields', error, request),
      warn: (text) => request.warnings.push(text),
    })

  const { result, created } = await guaranteedUpdate(scope, name, {
    dryRun: options.dryRun,
    mayCreate: applies && scope.subresource === '',
    authorizeCreate: () => authorizeCreate(scope),
    async transform(stored) {
      if (request.isLarge) await turnOfOthers()
      const live = stored && scope.fromStorage(stored)
      const operation = stored === undefined ? 'CREATE' : 'UPDATE'
      const admit = (object: KubeObject, oldObject: KubeObject | undefined) =>
        admitMutating(admissionAttributes(scope, operation, options, { object, oldObject }))
      const wanted =
        view !== undefined
          ? await throughView(scope, view, live!, (before) => atOnce(patching(before)), admit)
          : request.isLarge
            ? await inTurns(patching(live))
            : atOnce(patching(live))
      checkName(scope, wanted)
      dropDuplicateOwners(wanted, request.warnings)
      if (request.isLarge) await turnOfOthers()
      const object = scope.toStorage(wanted)
      if (view === undefined) await admit(object, stored)
      return object
    },
    validating: validatingOf(scope, 'UPDATE', options),
  })
  if (request.isLarge) await turnOfOthers()
  return respondObject(
    scope,
    output,
    created ? 201 : 200,
    await inRequestVersion(scope, result.stored ?? result.object),
  )
}
