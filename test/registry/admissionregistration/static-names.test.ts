import { describe, expect, test } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const NAME = 'a.static.k8s.io'
const RESERVED =
  'names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API'

const kinds = [
  ['ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {}],
  ['MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', {}],
  [
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    {
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
      },
    },
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    { spec: { policyName: 'p', validationActions: ['Deny'] } },
  ],
] as const

const TOKEN = 'an-administrators-secret-of-this-test'

async function created(kind: string, resource: string, more: object, name: string, gates: string) {
  const server = memoryServer({ KEDGE_FEATURE_GATES: gates, KEDGE_ADMIN_TOKEN: TOKEN })
  const body = JSON.stringify({ kind, apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name }, ...more })
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` }
  const request = server.request(`${GROUP}/${resource}`, { method: 'POST', body, headers })
  const found = await answer(request).then(
    ({ status }) => String(status),
    (error: unknown) => (error instanceof StatusError ? `${error.code} ${error.message}` : error),
  )
  return { found, warnings: request.warnings }
}

describe.each(kinds)('a name that files may have, of a %s', (kind, resource, more) => {
  test('is warned of without the feature', async () => {
    expect(await created(kind, resource, more, NAME, '')).toEqual({
      found: '201',
      warnings: [`metadata.name: ${RESERVED}`],
    })
  })

  test('is refused with it, and others are not', async () => {
    const gates = 'ManifestBasedAdmissionControlConfig=true'
    expect(await created(kind, resource, more, NAME, gates)).toEqual({
      found: `422 ${kind}.admissionregistration.k8s.io "${NAME}" is invalid: metadata.name: Invalid value: "${NAME}": ${RESERVED}`,
      warnings: [],
    })
    expect((await created(kind, resource, more, 'a.k8s.io', gates)).found).toBe('201')
  })
})
