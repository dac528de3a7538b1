import { admissionChain } from '../../admission/chain.ts'
import { badRequest } from '../../api/status.ts'
import { negotiateOutput, negotiatePatchType } from '../../codec/negotiation/negotiate.ts'
import type { BodyFormat } from '../../codec/decode/parse-body.ts'
import { appliedCbor } from '../../patch/applied-cbor.ts'
import { appliedYaml } from '../../patch/applied-yaml.ts'
import { checkNameParameter } from '../../registry/key-name.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { APPLY, patch as patchObject } from '../../registry/write/patch.ts'
import { finished } from '../../request/turns.ts'
import { parsePatchOptions } from '../../request/options.ts'
import { authorizeCreate } from './authorize-create.ts'
import { notePatch, readBody } from '../bodies/decode-body.ts'
import { respondWritten } from './respond-written.ts'
import { withManager } from './with-manager.ts'

const APPLY_CBOR = 'application/apply-patch+cbor'
const patchFormats: Readonly<Record<string, BodyFormat>> = { [APPLY]: 'yaml', [APPLY_CBOR]: 'cbor' }

export async function patch(scope: RequestScope): Promise<Response> {
  const { request } = scope
  const patchType = negotiatePatchType(request, scope.resource.forms)
  if (scope.place.name === '') throw badRequest('name must be provided')
  const output = negotiateOutput(request, { kind: 'object', forms: scope.resource.forms })
  const bytes = await readBody(request)
  const applies = patchType === APPLY || patchType === APPLY_CBOR
  const options = withManager(request, parsePatchOptions(request.query, applies))
  const type = patchType === APPLY_CBOR ? APPLY : patchType
  const readApplied =
    patchType === APPLY_CBOR
      ? appliedCbor(bytes)
      : applies
        ? await appliedYaml(bytes, (steps) => finished(request, steps))
        : undefined
  const body = { type, bytes, mayCreate: applies, ...(readApplied && { readApplied }) }
  await notePatch(request, patchFormats[patchType] ?? 'json', bytes)
  checkNameParameter(scope.place.name)
  return respondWritten(
    scope,
    output,
    await patchObject(scope, body, options, admissionChain, () => authorizeCreate(scope)),
  )
}
