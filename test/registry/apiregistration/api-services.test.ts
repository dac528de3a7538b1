import { describe, expect, test } from 'vitest'
import type { APIService, APIServiceSpec } from '../../../src/api/apiregistration/v1.ts'
import { messageOf } from '../../../src/api/field.ts'
import { apiServices } from '../../../src/registry/apiregistration/api-services.ts'
import { remoteGroups } from '../../../src/registry/served/remote-groups.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import { withDynamic } from '../../../src/registry/served/served-groups.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

const service = { namespace: 'default', name: 'backend', port: 443 }
const valid: APIServiceSpec = { group: 'a.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 }
const apiService = (spec: APIServiceSpec, name = 'v1.a.example.com') => ({ metadata: { name }, spec })
// the validation reads only the object
const context = {} as StrategyContext
const problems = async (object: ReturnType<typeof apiService>) =>
  messageOf((await apiServices.validate?.(object, context)) ?? [])

describe('the rules for an APIService', () => {
  test.each<[APIServiceSpec, string]>([
    [valid, '[]'],
    [{ ...valid, service, insecureSkipTLSVerify: true }, '[]'],
    [
      { ...valid, version: 'v2' },
      'metadata.name: Invalid value: "v1.a.example.com": must be `spec.version+"."+spec.group`: "v2.a.example.com"',
    ],
    [
      { ...valid, groupPriorityMinimum: 20001 },
      'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
    ],
    [{ ...valid, versionPriority: 0 }, 'spec.versionPriority: Invalid value: 0: must be positive and less than 1000'],
    [
      { ...valid, insecureSkipTLSVerify: true },
      'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
    [
      { ...valid, service: { ...service, port: 70000 } },
      'spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
    ],
    [
      { ...valid, service, insecureSkipTLSVerify: true, caBundle: 'YQ==' },
      'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
    ],
  ])('%o', async (spec, message) => {
    expect(await problems(apiService(spec))).toBe(message)
  })
})

test.each<[Partial<APIServiceSpec>, string[]]>([
  [{ service }, []],
  [{ group: 'apps', version: 'v7', service }, []],
  [{ group: 'apps' }, []],
  [
    { group: 'apps', service },
    ['spec.service: this server serves apps/v1 itself, unless its runtime configuration turns that off'],
  ],
  [
    { group: '', service },
    ['spec.service: this server serves v1 itself, unless its runtime configuration turns that off'],
  ],
])('a Service for a version of its own gets a Warning: %o', (spec, warnings) => {
  const object = apiService({ ...valid, ...spec })
  expect(apiServices.warningsOnCreate?.(object, context)).toEqual(warnings)
  expect(apiServices.warningsOnUpdate?.(object, object, context)).toEqual(warnings)
})

describe('versions that are served elsewhere', () => {
  const built = builtInResources()
  const services: APIService[] = [
    apiService({ ...valid, service }),
    apiService({ ...valid, version: 'v2', service }),
    apiService({ ...valid, group: 'apps', version: 'v7', service }),
    apiService({ ...valid, group: 'apps', version: 'v1', service }),
    apiService({ ...valid, group: 'local.example.com' }),
  ]
  const served = withDynamic(built, remoteGroups(services))

  test('are listed by priority and version', () => {
    expect(served.groups.at(-1)?.group).toBe('a.example.com')
    expect(served.group('a.example.com')?.versions.map(({ version }) => version)).toEqual(['v2', 'v1'])
    expect(served.version('apps', 'v7')?.remote).toBe(true)
    expect(served.group('local.example.com')).toBeUndefined()
  })

  test('take nothing away from what is served here', () => {
    expect(served.version('apps', 'v1')?.remote).toBeUndefined()
    expect(served.find('apps', 'v1', 'deployments')).toBeDefined()
  })
})
