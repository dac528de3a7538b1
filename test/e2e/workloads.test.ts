// What somebody with a dev cluster does first: a Deployment whose pods run, behind a Service.
import { describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '3', '--missing-images', 'broken,gone/*')

const names = async (line: string): Promise<string[]> =>
  (await kubectl.run(`${line} -o name`)).split('\n').filter((name) => name !== '')

describe('a control plane with simulated nodes', () => {
  test('has nodes that are ready', async () => {
    await kubectl.run('wait --for=condition=Ready nodes --all --timeout=180s')
    expect(await names('get nodes')).toEqual(['node/node-1', 'node/node-2', 'node/node-3'])
  })

  test('cannot pull the images that are said to be missing', async () => {
    await kubectl.run('run lost --image=gone/away:1')
    const reason = 'get pod lost -o jsonpath={.status.containerStatuses[0].state.waiting.reason}'
    await eventually(async () => expect(await kubectl.run(reason)).toBe('ImagePullBackOff'))
    await kubectl.run('delete pod lost --now')
  })

  test('runs what is deployed, and rolls it out', async () => {
    await kubectl.run('create deployment web --image=nginx --replicas=3')
    expect(await kubectl.run('rollout status deployment/web --timeout=180s')).toContain('successfully rolled out')
    const nodes = await kubectl.run('get pods -l app=web -o jsonpath={.items[*].spec.nodeName}')
    expect(new Set(nodes.split(' ')).size).toBe(3)
    // the hash that kube-controller-manager gives this template
    expect(await names('get replicasets -l app=web')).toEqual(['replicaset.apps/web-7887448d46'])
    await kubectl.run('set image deployment/web nginx=nginx:2')
    expect(await kubectl.run('rollout status deployment/web --timeout=180s')).toContain('successfully rolled out')
    expect(await kubectl.run('rollout undo deployment/web')).toContain('rolled back')
    expect(await kubectl.run('rollout status deployment/web --timeout=180s')).toContain('successfully rolled out')
    expect(await kubectl.run('get deployment web -o jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx')
  })

  test('leads a Service to the pods', async () => {
    await kubectl.run('expose deployment web --port=80')
    const ready = async () =>
      (
        await kubectl.run(
          'get endpointslices -l kubernetes.io/service-name=web -o jsonpath={.items[*].endpoints[*].addresses[0]}',
        )
      )
        .split(' ')
        .filter((address) => address !== '')
    await eventually(async () => expect(await ready()).toHaveLength(3))
    await kubectl.run('scale deployment web --replicas=1')
    await eventually(async () => expect(await ready()).toHaveLength(1))
  })

  test('says why a pod waits', async () => {
    await kubectl.runArgs([
      'run',
      'large',
      '--image=nginx',
      '--overrides={"spec":{"containers":[{"name":"large","image":"nginx","resources":{"requests":{"cpu":"64"}}}]}}',
    ])
    await kubectl.run('wait --for=condition=PodScheduled=False pod/large --timeout=180s')
    expect(await kubectl.run('describe pod large')).toContain(
      '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    )
  })

  test('completes a Job, also one that a CronJob would make', async () => {
    await kubectl.run('create job pi --image=perl')
    await kubectl.run('wait --for=condition=Complete job/pi --timeout=180s')
    await kubectl.runArgs(['create', 'cronjob', 'tick', '--image=busybox', '--schedule=0 0 1 1 *'])
    await kubectl.run('create job tock --from=cronjob/tick')
    await kubectl.run('wait --for=condition=Complete job/tock --timeout=180s')
    expect(await kubectl.run('get pods -l batch.kubernetes.io/job-name=pi -o jsonpath={.items[*].status.phase}')).toBe(
      'Succeeded',
    )
  })

  test('lets go of what is deleted', async () => {
    await kubectl.run('delete deployment web')
    await eventually(async () => expect(await names('get pods,replicasets -l app=web')).toEqual([]))
  })
})
