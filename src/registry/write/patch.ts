import type { JsonObject, KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import type { PatchedAt } from '../../patch/decode-patched.ts'
import { decodePatched } from '../../patch/decode-patched.ts'
import type { PatchInput, PatchTypeName } from '../../patch/patch-types.ts'
import { patchTypes } from '../../patch/patch-types.ts'
import { noteFault } from '../../request/fault.ts'
import { takeRoomBeside } from '../../request/turns.ts'
import type { PatchOptions } from '../../request/options.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import type { StructType } from '../../schema/structural.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { defaultingOf, endpointKind, endpointType } from '../resource-scope.ts'
import type { Updated } from './guaranteed-update.ts'
import type { Admission } from './admission.ts'
import { checkName } from './check-name.ts'
import type { AuthorizeCreate } from './update.ts'
import { createsOnUpdate, updateWith } from './update.ts'

export const APPLY = 'application/apply-patch+yaml'

export interface PatchBody {
  readonly type: PatchTypeName
  readonly bytes: Uint8Array
  /** Whether the patch creates an absent object. Only apply does. */
  readonly mayCreate: boolean
  /** The uid of the object that the patch is for. Default: any. */
  readonly uid?: string | undefined
  /** For an applied configuration. @see PatchInput.readApplied */
  readonly readApplied?: PatchInput['readApplied']
}

/** @throws StatusError NotFound also where the object has another uid than the body wants */
export function patch(
  scope: ResourceScope,
  body: PatchBody,
  options: PatchOptions,
  admission: Admission,
  authorizeCreate?: AuthorizeCreate,
): Promise<Updated> {
  const {
    request,
    resource: { view },
    place: { name, subresource },
  } = scope
  const { hasInternalType } = scope.resource.forms
  const defaults = (type: StructType, object: JsonObject): void => applyDefaults(type, object, defaultingOf(scope))
  const at: PatchedAt = {
    hasInternal: hasInternalType,
    isStatus: subresource === 'status',
    ...(scope.resource.typeOfVersion && { typeOfVersion: scope.resource.typeOfVersion }),
    // every type of an endpoint has metadata, which decoding sets
    checkName(object) {
      if (view === undefined) checkName(scope.place, object as unknown as KubeObject)
    },
  }
  const input: Omit<PatchInput, 'live'> = {
    type: endpointType(scope),
    kind: endpointKind(scope),
    resource: scope.resource.gvr,
    name,
    subresource,
    body: body.bytes,
    manager: options.fieldManager,
    force: options.force === true,
    fieldValidation: options.fieldValidation,
    now: request.now,
    resetFields: scope.resource.resetFields,
    convert: scope.resource.convertVersion(request),
    afterConversion: (object) => scope.resource.afterConversion(object),
    hasInternalType,
    decode: (tree) => decodePatched(endpointType(scope), endpointKind(scope), tree, defaults, at),
    applyDefaults: (object) => defaults(endpointType(scope), object),
    readApplied: body.readApplied ?? notApplied,
    grew: (bytes) => takeRoomBeside(request, bytes),
    untracked: (error) => noteFault('managedFields', error, request),
    warn: (text) => request.warnings.push(text),
  }
  return updateWith(scope, options, admission, {
    mayCreate: body.mayCreate && appliesCreate(scope),
    mayHaveUndeclared: body.type === APPLY,
    authorizeCreate,
    *wanted(live) {
      if (body.uid !== undefined && live?.metadata.uid !== body.uid) throw notFound(scope.resource.gvr, name)
      const object = yield* patchTypes[body.type]({ ...input, live })
      // `throughView` checks the name of a view
      if (view !== undefined) return object
      checkName(scope.place, object)
      return object
    },
  })
}

const appliesCreate = (scope: ResourceScope): boolean => {
  const { place, resource } = scope
  return (
    place.subresource === '' ||
    createsOnUpdate(scope) ||
    (place.subresource === 'status' && resource.strategy.allowCreateOnStatusApply === true)
  )
}

const notApplied = (): never => {
  throw new Error('assertion failed: no applied configuration was read')
}
