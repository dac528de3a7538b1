import { admissionChain } from '../../admission/chain.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { methodNotAllowed } from '../../api/status.ts'
import type { OutputNegotiation } from '../../codec/negotiation/negotiate.ts'
import { negotiateInput, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { respondSuccess } from '../../codec/respond.ts'
import { parseCreateOptions } from '../../request/options.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import { decodeBody, readBody } from '../bodies/decode-body.ts'
import { prepareNewMetadata } from '../../registry/write/new-metadata.ts'
import { ofKind } from '../../registry/resource.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { Verb } from '../../registry/served/serving.ts'
import { builtInFormsWithoutTable } from '../../codec/built-in-forms.ts'

/** The body of a POST to a subresource that acts on the body and does not store it. */
export interface Posted<O> {
  readonly object: O & KubeObject
  readonly dryRun: boolean
  readonly output: OutputNegotiation
  validate(): Promise<void>
}

/** The scope for a subresource whose kind is not that of its resource. */
export const asKind = (scope: RequestScope, kind: GroupVersionKind): RequestScope => ({
  ...scope,
  resource: ofKind(scope.resource, kind, typeOfKind(kind)!),
})

/**
 * @param kindOf finds the kind of the object in the body
 * @param admittedAs the kind in which admission sees it, of the same form. Default: that of the body
 */
export async function readPosted<O>(
  scope: RequestScope,
  verb: Verb | '',
  kindOf: (body: Uint8Array) => GroupVersionKind | Promise<GroupVersionKind>,
  {
    keepsSystemFields = false,
    admittedAs,
  }: { readonly keepsSystemFields?: boolean; readonly admittedAs?: GroupVersionKind } = {},
): Promise<Posted<O>> {
  const { request } = scope
  if (verb !== 'create') throw methodNotAllowed()
  const output = negotiateOutput(request, { kind: 'object', forms: builtInFormsWithoutTable })
  const input = negotiateInput(request)
  const body = await readBody(request)
  const options = parseCreateOptions(request.query)
  const posted = asKind(scope, await kindOf(body))
  // the object has the endpoint's type
  const object = (await decodeBody(posted, input, body, options.fieldValidation)) as O & KubeObject
  await prepareNewMetadata(scope, object, { keepsSystemFields })
  if (admittedAs !== undefined) object.apiVersion = apiVersionOf(admittedAs)
  const admitted = admittedAs === undefined ? posted : asKind(scope, admittedAs)
  await admissionChain.mutate(admitted, 'CREATE', options, { object })
  const validate = async () => void (await admissionChain.validate(admitted, 'CREATE', options, { object }))
  return { object, dryRun: options.dryRun, output, validate }
}

export const respondDone = (scope: RequestScope, { output }: Posted<unknown>): Response =>
  respondSuccess(scope, output, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, 201)
