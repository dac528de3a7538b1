import { describe, expect, it } from 'vitest'
import type { PodSpec } from '../../../src/api/core/v1.ts'
import { path } from '../../../src/api/field.ts'
import { qosClassOf } from '../../../src/validation/pod/pod-qos.ts'
import { parseFeatureGates } from '../../../src/api/feature-gates.ts'
import { validatePodSpec } from '../../../src/validation/pod/pod-spec.ts'
import { podRules } from '../../../src/validation/pod/rules.ts'

const gates = parseFeatureGates(undefined)
const rules = podRules((gate) => gates.enabled(gate), true)
const container = { name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', resources: {} }
const spec: PodSpec = {
  containers: [container],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  terminationGracePeriodSeconds: 30,
}

/** Changes to a valid spec, each with the field and the message of its error. */
const faults: readonly (readonly [change: PodSpec, field: string, message: string])[] = [
  [{ containers: [] }, 'spec.containers', 'Required value'],
  [{ containers: [container, container] }, 'spec.containers[1].name', 'Duplicate value: "c"'],
  [{ volumes: [{ name: 'v' }] }, 'spec.volumes[0]', 'Required value: must specify a volume type'],
  [
    { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] },
    'spec.volumes[0].hostPath',
    'Forbidden: may not specify more than 1 volume type',
  ],
  [
    { containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/x' }] }] },
    'spec.containers[0].volumeMounts[0].name',
    'Not found: "v"',
  ],
  [
    { containers: [{ ...container, resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }] },
    'spec.containers[0].resources.requests',
    'Invalid value: "2": must be less than or equal to cpu limit of 1',
  ],
  [
    { restartPolicy: 'Sometimes' },
    'spec.restartPolicy',
    'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
  ],
  [{ hostUsers: false, hostPID: true }, 'spec.HostPID', 'Forbidden: when `hostUsers` is false'],
]

describe('pod specs', () => {
  it('takes a plain one', () => expect(validatePodSpec(path('spec'), spec, { name: 'p' }, rules)).toEqual([]))

  it.each(faults)('%j', (change, field, message) => {
    const errors = validatePodSpec(path('spec'), { ...spec, ...change }, { name: 'p' }, rules)
    expect(errors.map((error) => [error.field, error.message])).toEqual([[field, message]])
  })
})

describe('with features that are off by default', () => {
  const allRules = podRules(() => true, true)
  const messagesOf = (change: PodSpec) =>
    validatePodSpec(path('spec'), { ...spec, ...change }, { name: 'p' }, allRules).map(({ message }) => message)
  const canonical = 'must be a valid decimal integer in canonical form'

  it.each([
    ['5', []],
    ['-9223372036854775808', []],
    ['05', [canonical]],
    ['+1', [canonical]],
    ['1.5', [canonical, 'strconv.ParseInt: parsing "1.5": invalid syntax']],
    ['', ['must be non-empty', 'strconv.ParseInt: parsing "": invalid syntax']],
    ['9223372036854775808', ['strconv.ParseInt: parsing "9223372036854775808": value out of range']],
  ])('a toleration above %j', (value, problems) => {
    const tolerations = [{ key: 'k', operator: 'Gt', value }]
    expect(messagesOf({ tolerations })).toEqual(
      problems.map((text) => `Invalid value: ${JSON.stringify(value)}: ${text}`),
    )
  })

  it('a trust bundle by name and by signer', () => {
    const clusterTrustBundle = { signerName: 'a.b/c', name: 'x', path: 'p', labelSelector: {}, optional: false }
    expect(messagesOf({ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle }] } }] })).toEqual([
      'Invalid value: {"Name":"x","SignerName":"a.b/c","LabelSelector":{},"Optional":false,"Path":"p"}: only one of name and signerName may be used',
    ])
  })
})

describe('the quality of service', () => {
  const of = (requests?: Record<string, string>, limits?: Record<string, string>) =>
    qosClassOf({ containers: [{ resources: { ...(requests ? { requests } : {}), ...(limits ? { limits } : {}) } }] })

  it('is by what containers ask for and may use', () => {
    const all = { cpu: '1', memory: '1Gi' }
    expect(of()).toBe('BestEffort')
    expect(of({ cpu: '1' })).toBe('Burstable')
    expect(of(all, all)).toBe('Guaranteed')
    expect(of({ ...all, cpu: '500m' }, all)).toBe('Burstable')
    expect(of({ 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })).toBe('BestEffort')
  })
})
