import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { revised } from '../../../src/controllers/server/flow-defaults.ts'
import { newPlane, reconcile } from '../reconcile.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec'
const SCHEMAS = { group: GROUP, resource: 'flowschemas' }
const LEVELS = { group: GROUP, resource: 'prioritylevelconfigurations' }

describe('updates of an existing object', () => {
  const schema = (name: string, precedence: number, annotation?: string, generation = 1): KubeObject =>
    ({
      kind: 'FlowSchema',
      metadata: {
        name,
        generation,
        ...(annotation === undefined ? {} : { annotations: { [AUTOUPDATE]: annotation } }),
      },
      spec: { matchingPrecedence: precedence },
    }) as never
  const wanted = schema('x', 1)
  test.each<[string, KubeObject, object | undefined]>([
    ['the same, asked for: nothing', schema('x', 1, 'true'), undefined],
    ['another spec, asked for: the wanted one', schema('x', 2, 'true'), { spec: { matchingPrecedence: 1 } }],
    ['another spec, kept: nothing', schema('x', 2, 'false'), undefined],
    [
      'never changed, and no word: asked for from now on',
      schema('x', 1),
      { metadata: { name: 'x', generation: 1, annotations: { [AUTOUPDATE]: 'true' } } },
    ],
    [
      'changed, and no word: kept from now on',
      schema('x', 2, undefined, 2),
      { metadata: { name: 'x', generation: 2, annotations: { [AUTOUPDATE]: 'false' } } },
    ],
    [
      'a word that is none counts as none',
      schema('x', 2, 'maybe', 2),
      { metadata: { name: 'x', generation: 2, annotations: { [AUTOUPDATE]: 'false' } } },
    ],
    [
      'mandatory: the wanted spec, whatever is asked for',
      schema('exempt', 2, 'false'),
      {
        spec: { matchingPrecedence: 1 },
        metadata: { name: 'exempt', generation: 1, annotations: { [AUTOUPDATE]: 'true' } },
      },
    ],
  ])('%s', (_what, live, changes) => expect(revised(live, wanted)).toEqual(changes))
})

test('a deleted default is created again, and an object with the annotation that is no default is deleted', async () => {
  const plane = await newPlane()
  const [schemas, levels] = [await plane.names(SCHEMAS), await plane.names(LEVELS)]
  await plane.delete(SCHEMAS, '', 'service-accounts')
  await plane.delete(LEVELS, '', 'workload-low')
  const make = (name: string, annotation: string) =>
    plane.create(SCHEMAS, {
      kind: 'FlowSchema',
      apiVersion: `${GROUP}/v1`,
      metadata: { name, annotations: { [AUTOUPDATE]: annotation } },
      spec: { priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: 5 },
    })
  await make('old-default', 'true')
  await make('mine', 'false')
  await reconcile(plane, 'flow-defaults', '')
  expect((await plane.names(SCHEMAS)).sort()).toEqual([...schemas, 'mine'].sort())
  expect((await plane.names(LEVELS)).sort()).toEqual([...levels].sort())
})
