// What kubectl is told of pods on simulated nodes.
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '1')
const manifest = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web',
    annotations: {
      'kedge.dev/log.c': 'one\ntwo\n',
      'kedge.dev/exec-exit-code.d': '7',
      'kedge.dev/exit-code.again': '3',
      'kedge.dev/image-pull.absent': 'fail',
    },
  },
  spec: {
    containers: [
      { name: 'c', image: 'nginx' },
      { name: 'd', image: 'busybox' },
      { name: 'again', image: 'busybox' },
      { name: 'absent', image: 'missing' },
    ],
  },
}
const FIRST = 'simulated: container c of image nginx runs no process, this is no output of it'

beforeAll(async () => {
  if (findKubectlOrNot().kubectl === undefined) return // and every test is skipped
  await kubectl.run('apply -f -', JSON.stringify(manifest))
  await eventually(async () =>
    expect(await kubectl.run('get pod web -o jsonpath={.status.containerStatuses[*].state.running}')).not.toBe(''),
  )
})

describe('kubectl logs', () => {
  test.each([
    ['web -c c', `${FIRST}\none\ntwo\n`],
    ['web -c c --tail=1', 'two\n'],
    ['web -c c --tail=0', ''],
    ['web -c c --limit-bytes=9', 'simulated'],
    ['web -c c --since=1h --tail=2', 'one\ntwo\n'],
    ['web -c c --since-time=2100-01-01T00:00:00Z', ''],
  ])('%s', async (args, text) => {
    expect(await kubectl.run(`logs ${args}`)).toBe(text)
  })

  test('--timestamps shows when', async () => {
    expect(await kubectl.run('logs web -c c --tail=1 --timestamps')).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:]{8}\.000000000Z two\n$/,
    )
  })

  test('--previous tells of the run before', async () => {
    const text = () => kubectl.run('logs web -c again --previous')
    await eventually(async () => expect(await text()).toContain('ended with exit code 3'))
  })

  test.each([
    ['web -c absent', 'container "absent" in pod "web" is waiting to start: trying and failing to pull image'],
    ['web -c c --previous', 'previous terminated container "c" in pod "web" not found'],
  ])('%s is refused as a kubelet does', async (args, why) => {
    const { code, stderr } = await kubectl.try(['logs', ...args.split(' ')])
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)])
  })

  test('--follow ends with the container', async () => {
    await kubectl.runArgs(['run', 'short', '--image=busybox', '--restart=Never', '--annotations=kedge.dev/duration=4s'])
    expect(await eventually(() => kubectl.run('logs -f short'))).toMatch(
      /^simulated: .*\nsimulated: container short ended with exit code 0\n$/,
    )
  })
})

describe('kubectl exec', () => {
  test('says what it was asked to run', async () => {
    expect(await kubectl.run('exec web -c c -- echo hi')).toBe(
      'simulated: container c runs no process, this is no output of: echo hi\n',
    )
  })

  test('ends with the exit code of the annotation', async () => {
    const { code, stderr } = await kubectl.try(['exec', 'web', '-c', 'd', '--', 'false'])
    expect([code, stderr]).toEqual([7, expect.stringContaining('command terminated with exit code 7')])
  })

  test('finds no container that does not run', async () => {
    const { code, stderr } = await kubectl.try(['exec', 'web', '-c', 'absent', '--', 'true'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('container not found ("absent")')])
  })
})

test('kubectl attach goes on until the container ends', async () => {
  const attached = async (name: string, duration: string): Promise<string> => {
    const annotation = `--annotations=kedge.dev/duration=${duration}`
    await kubectl.runArgs(['run', name, '--image=busybox', '--restart=Never', annotation])
    await kubectl.run(`wait --for=condition=Ready pod/${name} --timeout=${duration}`)
    return kubectl.run(`attach ${name}`)
  }
  // a busy machine may come too late for the short one
  const text = await attached('brief', '6s').catch(() => attached('lasting', '60s'))
  expect(text).toMatch(/simulated: container (brief|lasting) of image busybox runs no process/)
})
