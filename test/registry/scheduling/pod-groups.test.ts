import { describe, expect, test } from 'vitest'
import { podGroups } from '../../../src/registry/scheduling/pod-groups.ts'
import { workloads } from '../../../src/registry/scheduling/workloads.ts'
import type { FieldError } from '../../../src/api/field.ts'
import type { Env } from '../../../src/env.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

const context = {} as StrategyContext // the rules read only the object
const metadata = { name: 'a' }
const texts = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`)
const basic = { basic: {} }
const IMMUTABLE = 'Invalid value: null: field is immutable'

describe('a group of pods', () => {
  test.each<[what: string, spec: object, errors: string[]]>([
    ['one by one', { schedulingPolicy: basic }, []],
    ['all together', { schedulingPolicy: { gang: { minCount: 2 } } }, []],
    ['without a policy', {}, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']],
    [
      'with both policies',
      { schedulingPolicy: { ...basic, gang: { minCount: 1 } } },
      ['spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`'],
    ],
    ['of none', { schedulingPolicy: { gang: {} } }, ['spec.schedulingPolicy.gang.minCount: Required value']],
    [
      'of a template that has no name',
      { schedulingPolicy: basic, podGroupTemplateRef: { workload: { workloadName: 'w' } } },
      ['spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value'],
    ],
  ])('%s', async (_, spec, expected) => {
    expect(texts(await podGroups.validate!({ metadata, spec }, context))).toEqual(expected)
  })

  test('stays as it was made', async () => {
    const old = { metadata, spec: { schedulingPolicy: basic } }
    const changed = { metadata, spec: { schedulingPolicy: { gang: { minCount: 2 } } } }
    expect(await podGroups.validateUpdate!(old, old, context)).toEqual([])
    expect(texts(await podGroups.validateUpdate!(changed, old, context))).toEqual([
      `spec.schedulingPolicy: ${IMMUTABLE}`,
    ])
  })

  test('is disrupted pod by pod unless it says otherwise', () => {
    const group = { metadata, spec: {} }
    podGroups.completeOnCreate!(group, context)
    expect(group.spec).toEqual({ disruptionMode: 'Pod' })
  })
})

describe('a workload', () => {
  const template = (name: string) => ({ name, schedulingPolicy: basic })

  test.each<[what: string, spec: object, errors: string[]]>([
    ['of one group', { podGroupTemplates: [template('a')] }, []],
    ['of none', {}, ['spec.podGroupTemplates: Required value']],
    [
      'of two groups with one name',
      { podGroupTemplates: [template('a'), template('a')] },
      [
        'spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}',
      ],
    ],
    [
      'of a name with a dot',
      { podGroupTemplates: [template('a.b')] },
      ['spec.podGroupTemplates[0].name: Invalid value: "a.b": must not contain dots'],
    ],
    [
      'of too many',
      { podGroupTemplates: [...'abcdefghi'].map(template) },
      ['spec.podGroupTemplates: Too many: 9: must have at most 8 items'],
    ],
    [
      'of a controller that has no name',
      { controllerRef: { kind: 'a/b' }, podGroupTemplates: [template('a')] },
      [`spec.controllerRef.kind: Invalid value: "a/b": may not contain '/'`, 'spec.controllerRef.name: Required value'],
    ],
  ])('%s', async (_, spec, expected) => {
    expect(texts(await workloads.validate!({ metadata, spec }, context))).toEqual(expected)
  })

  test('stays as it was made', async () => {
    const spec = { podGroupTemplates: [template('a'), template('b')], controllerRef: { kind: 'K', name: 'n' } }
    const update = async (changed: object) =>
      texts(await workloads.validateUpdate!({ metadata, spec: changed }, { metadata, spec }, context))
    expect(await update(spec)).toEqual([])
    expect(await update({ ...spec, podGroupTemplates: [template('c'), template('d')] })).toEqual([
      `spec.podGroupTemplates: ${IMMUTABLE}`,
    ])
    expect(await update({ podGroupTemplates: [] })).toEqual([
      `spec.controllerRef: ${IMMUTABLE}`,
      `spec.podGroupTemplates: ${IMMUTABLE}`,
      'spec.podGroupTemplates: Required value',
    ])
  })
})

describe('what the scheduler of this server does not heed', () => {
  const gang = { schedulingPolicy: { gang: { minCount: 2 } } }
  const all = {
    ...gang,
    schedulingConstraints: { topology: [{ key: 'zone' }] },
    resourceClaims: [{ name: 'c', resourceClaimName: 'd' }],
    disruptionMode: 'PodGroup',
  }
  const warnings = (at: string) => [
    `${at}.schedulingPolicy.gang: has no effect, as the scheduler of this server places each pod of a group by itself`,
    `${at}.schedulingConstraints.topology: has no effect, as the scheduler of this server places each pod of a group by itself`,
    `${at}.resourceClaims: has no effect, as the controllers of this server make and reserve claims for each pod of a group by itself`,
    `${at}.disruptionMode: has no effect, as the scheduler of this server preempts each pod of a group by itself`,
  ]
  // storage keeps an absent value as null
  const plain = { schedulingPolicy: { ...basic, gang: null }, schedulingConstraints: null, disruptionMode: 'Pod' }

  test.each<[what: string, env: Partial<Env>, spec: object, wanted: string[]]>([
    ['all of it', { KEDGE_WORKLOADS: 'simulated' }, all, warnings('spec')],
    ['a gang', { KEDGE_WORKLOADS: 'simulated' }, gang, warnings('spec').slice(0, 1)],
    ['nothing', { KEDGE_WORKLOADS: 'simulated' }, plain, []],
    ['what others heed', {}, all, []],
    [
      'claims, with a scheduler and kubelets of others',
      { KEDGE_WORKLOADS: 'controllers' },
      all,
      warnings('spec').slice(2, 3),
    ],
    [
      'what another scheduler heeds beside',
      { KEDGE_WORKLOADS: 'simulated', KEDGE_CONTROLLERS: '*,-kube-scheduler,-resourceclaim-controller' },
      all,
      [],
    ],
  ])('%s', (_, env, spec, wanted) => {
    const of = { env: env as Env, tenant: { uid: 'groups' } } as unknown as StrategyContext // it reads nothing else
    expect(podGroups.warningsOnCreate!({ metadata, spec }, of)).toEqual(wanted)
    const podGroupTemplates = [
      { name: 'a', schedulingPolicy: basic },
      { name: 'b', ...spec },
    ]
    expect(workloads.warningsOnCreate!({ metadata, spec: { podGroupTemplates } }, of)).toEqual(
      wanted.map((text) => text.replace('spec', 'spec.podGroupTemplates[1]')),
    )
  })
})
