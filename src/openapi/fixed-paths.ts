/** The paths that serve no resource: discovery, version, OIDC documents. */
import type { GroupVersion } from '../api/group-version.ts'
import type { OpenApiSettings, Operation, PathItem } from './operation.ts'
import { operationIdOf, rootOf, tagOf } from './operation.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const JSON_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

const read = (
  path: string,
  tag: string,
  operationId: string,
  description: string,
  model: string | undefined,
  mediaTypes: { readonly produces: readonly string[]; readonly consumes?: readonly string[] },
): PathItem => {
  const get: Operation = {
    method: 'get',
    tag,
    operationId,
    description,
    ...mediaTypes,
    parameters: [],
    responses: [{ code: 200, ...(model === undefined ? {} : { model }) }, { code: 401 }],
  }
  return { path, operations: [get] }
}

const discovery = { consumes: JSON_TYPES, produces: JSON_TYPES }
const CBOR_TYPES = [...JSON_TYPES, 'application/cbor']
const withCbor = { consumes: CBOR_TYPES, produces: CBOR_TYPES }

export const groupVersionPath = (gv: GroupVersion, { cbor }: OpenApiSettings): PathItem =>
  read(
    `${rootOf(gv)}/`,
    tagOf(gv.group, gv.version),
    operationIdOf(gv, 'get', 'APIResources'),
    'get available resources',
    `${META}.APIResourceList`,
    cbor ? withCbor : discovery,
  )

export const groupPath = (group: string): PathItem =>
  read(
    `/apis/${group}/`,
    tagOf(group),
    operationIdOf({ group }, 'get', 'APIGroup'),
    'get information of a group',
    `${META}.APIGroup`,
    discovery,
  )

/** By key of their document. */
export const fixedPaths: Readonly<Record<string, PathItem>> = {
  '.well-known/openid-configuration': read(
    '/.well-known/openid-configuration/',
    'WellKnown',
    'getServiceAccountIssuerOpenIDConfiguration',
    "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
    undefined,
    { produces: ['application/json'] },
  ),
  api: read('/api/', 'core', 'getCoreAPIVersions', 'get available API versions', `${META}.APIVersions`, discovery),
  apis: read('/apis/', 'apis', 'getAPIVersions', 'get available API versions', `${META}.APIGroupList`, discovery),
  'openid/v1/jwks': read(
    '/openid/v1/jwks/',
    'openid',
    'getServiceAccountIssuerOpenIDKeyset',
    'get service account issuer OpenID JSON Web Key Set (contains public token verification keys)',
    undefined,
    { produces: ['application/jwk-set+json'] },
  ),
  version: read(
    '/version/',
    'version',
    'getCodeVersion',
    'get the version information for this server',
    'io.k8s.apimachinery.pkg.version.Info',
    { consumes: ['application/json'], produces: ['application/json'] },
  ),
}
