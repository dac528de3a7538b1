import { expect, test } from 'vitest'
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../../src/api/core/v1.ts'
import { atOnce } from '../../../src/base/slices.ts'
import { CycleWork } from '../../../src/controllers/scheduling/cycle-work.ts'
import { FreeVolumes } from '../../../src/controllers/scheduling/free-volumes.ts'

const ACCESS = ['ReadWriteOnce']

/** `NAME SIZE [NODE] [CLAIM]` */
function volume(text: string): PersistentVolume {
  const [name = '', storage = '', host = '-', claim] = text.split(' ')
  const matchExpressions = [{ key: 'host', operator: 'In' as const, values: [host] }]
  return {
    metadata: { name },
    spec: {
      capacity: { storage },
      accessModes: ACCESS,
      storageClassName: 'local',
      ...(host === '-' ? {} : { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } }),
      ...(claim === undefined ? {} : { claimRef: { namespace: 'default', name: claim } }),
    },
    status: { phase: 'Available' },
  }
}

/** `NAME SIZE` */
function claim(text: string): PersistentVolumeClaim {
  const [name = '', storage = ''] = text.split(' ')
  return {
    metadata: { name, namespace: 'default', uid: name },
    spec: { accessModes: ACCESS, storageClassName: 'local', resources: { requests: { storage } } },
  }
}

const node = (host: string): Node => ({ metadata: { name: host, labels: { host } } })

test.each<[what: string, claims: string[], volumes: string[], given: string]>([
  ['the smallest that is large enough', ['a 1Gi'], ['l 3Gi', 'm 2Gi', 's 500Mi'], 'a=m'],
  ['of another node: none', ['a 1Gi'], ['l 3Gi other'], 'a=-'],
  ['each volume once', ['a 1Gi', 'b 1Gi'], ['l 3Gi', 'm 2Gi here'], 'a=m b=l'],
  ['the smallest claim is first, whatever the pod names first', ['a 2Gi', 'b 1Gi'], ['l 3Gi', 'm 2Gi'], 'b=m a=l'],
  ['a reserved volume, before a smaller one', ['a 1Gi'], ['l 3Gi - a', 'm 2Gi'], 'a=l'],
  ['a reserved volume, even if the node does not reach it', ['a 1Gi'], ['l 3Gi other a', 'm 2Gi'], 'a=l'],
  ['none that is reserved for another', ['a 1Gi'], ['l 3Gi - b'], 'a=-'],
])('claims get %s', (_, claims, volumes, given) => {
  // few: the claims and volumes of the case
  const free = atOnce(FreeVolumes.of(claims.map(claim), volumes.map(volume), new CycleWork()))
  const on = free.on(node('here'))
  expect(free.claims.map((one) => `${one.metadata.name}=${on.take(one)?.metadata.name ?? '-'}`).join(' ')).toBe(given)
})

test('many volumes are compared in steps, and for each node only once by their affinity', () => {
  const hosts = Array.from({ length: 100 }, (_, at) => `n${at}`)
  const volumes = hosts.flatMap((host) => Array.from({ length: 50 }, (_, at) => volume(`${host}-${at} 1Gi ${host}`)))
  const claims = Array.from({ length: 100 }, (_, at) => claim(`c${at} 1Gi`))
  const work = new CycleWork()
  const steps = FreeVolumes.of(claims, volumes, work)
  let before = 0
  let count = 0
  for (;;) {
    const { done, value } = steps.next(true)
    expect(work.total - before).toBeLessThan(4_100)
    before = work.total
    count++
    if (done !== true) continue
    expect(value.weight).toBeLessThan(claims.length * 110 + hosts.length * 10)
    break
  }
  expect(count).toBeGreaterThan(40)
})
