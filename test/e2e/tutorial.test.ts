// What the reader of a tutorial types, from the first command to the clean-up. Told as one story: the order matters.
import { expect, test } from 'vitest'
import { kubectlServerUnderTest } from './kubectl-server.ts'

const kubectl = kubectlServerUnderTest()

const DEPLOYMENT = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: nginx
        image: ${image}
        ports:
        - containerPort: 80
`

test('looks around', async () => {
  expect(await kubectl.run('version')).toMatch(/Server Version: v1\.36\./)
  expect(await kubectl.run('cluster-info')).toContain('Kubernetes control plane')
  const resources = await kubectl.run('api-resources')
  expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m)
  expect(resources).toMatch(/^nodes +no +v1 +false +Node$/m)
  expect(await kubectl.run('api-versions')).toMatch(/^rbac\.authorization\.k8s\.io\/v1$/m)
  expect(await kubectl.run('explain pod.spec.containers')).toMatch(/name\s+<string> -required-/)
  expect(await kubectl.run('get --raw /readyz')).toBe('ok')
  const namespaces = await kubectl.run('get namespaces -o name')
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    expect(namespaces).toContain(`namespace/${name}\n`)
  }
})

test('makes a namespace to work in', async () => {
  expect(await kubectl.run('create namespace tutorial')).toBe('namespace/tutorial created\n')
  kubectl.namespace = 'tutorial'
  await expect
    .poll(() => kubectl.run('get serviceaccounts,configmaps -o name'))
    .toBe('serviceaccount/default\nconfigmap/kube-root-ca.crt\n')
})

test('creates things with a line', async () => {
  expect(await kubectl.run('create configmap settings --from-literal=colour=blue')).toBe('configmap/settings created\n')
  expect(await kubectl.run('create secret generic password --from-literal=value=s3cret')).toBe(
    'secret/password created\n',
  )
  expect(await kubectl.run('get secret password -o jsonpath={.data.value}')).toBe('czNjcmV0')
  expect(await kubectl.run('create deployment cache --image=redis --replicas=3')).toBe(
    'deployment.apps/cache created\n',
  )
  expect(await kubectl.run('create job once --image=busybox')).toBe('job.batch/once created\n')
  expect(await kubectl.run('expose deployment cache --port=6379')).toBe('service/cache exposed\n')
  expect((await kubectl.try(['create', 'configmap', 'settings'])).stderr).toBe(
    'error: failed to create configmap: configmaps "settings" already exists\n',
  )
})

test('sees them as a table, wide, as JSON, YAML and names', async () => {
  expect(await kubectl.run('get deployments')).toMatch(
    /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\ncache +0\/3 +0 +0 +\d+s\n$/,
  )
  expect(await kubectl.run('get deployments -o wide')).toMatch(
    /CONTAINERS +IMAGES +SELECTOR\ncache .* redis +redis +app=cache\n$/,
  )
  expect(await kubectl.run('get configmap settings -o yaml')).toContain('data:\n  colour: blue\nkind: ConfigMap\n')
  expect(await kubectl.json('get configmap settings')).toMatchObject({ data: { colour: 'blue' } })
  expect(await kubectl.run('get service cache -o jsonpath={.spec.clusterIP}')).toMatch(/^10\.96\.\d+\.\d+$/)
  expect(await kubectl.run('get deployments,services -l app=cache -o name')).toBe(
    'deployment.apps/cache\nservice/cache\n',
  )
  expect(await kubectl.run('get configmaps --field-selector metadata.name=settings -o name')).toBe(
    'configmap/settings\n',
  )
  expect(await kubectl.run('get configmaps -A --chunk-size=100 -o name')).toContain('configmap/settings\n')
  expect(await kubectl.run('get deployment cache -o custom-columns=N:.metadata.name,R:.spec.replicas')).toBe(
    'N       R\ncache   3\n',
  )
})

test('applies a manifest, and again after a change', async () => {
  expect(await kubectl.run('apply -f -', DEPLOYMENT('nginx:1.25'))).toBe('deployment.apps/web created\n')
  expect(await kubectl.run('apply -f -', DEPLOYMENT('nginx:1.25'))).toBe('deployment.apps/web unchanged\n')
  const { code, stdout } = await kubectl.try(['diff', '-f', '-'], DEPLOYMENT('nginx:1.26'))
  expect(code).toBe(1)
  expect(stdout).toMatch(/^-\s+- image: nginx:1\.25\n\+\s+- image: nginx:1\.26$/m)
  expect(await kubectl.run('apply -f -', DEPLOYMENT('nginx:1.26'))).toBe('deployment.apps/web configured\n')
  expect((await kubectl.try(['diff', '-f', '-'], DEPLOYMENT('nginx:1.26'))).code).toBe(0)
  expect(await kubectl.json('get deployment web')).toMatchObject({
    metadata: { generation: 2 },
    spec: { replicas: 2, template: { spec: { containers: [{ image: 'nginx:1.26' }] } } },
  })
})

test('replaces, labels, annotates, scales', async () => {
  const live = await kubectl.run('get configmap settings -o json')
  expect(await kubectl.run('replace -f -', live.replace('blue', 'green'))).toBe('configmap/settings replaced\n')
  expect((await kubectl.try(['replace', '-f', '-'], live.replace('blue', 'red'))).stderr).toContain(
    'the object has been modified; please apply your changes to the latest version and try again',
  )
  expect(await kubectl.run('label deployment web stage=test')).toBe('deployment.apps/web labeled\n')
  expect(await kubectl.run('annotate deployment web note=hello')).toBe('deployment.apps/web annotated\n')
  expect(await kubectl.run('scale deployment web --replicas=5')).toBe('deployment.apps/web scaled\n')
  expect(await kubectl.json('get deployment web')).toMatchObject({
    metadata: { labels: { stage: 'test' }, annotations: { note: 'hello' } },
    spec: { replicas: 5 },
  })
  expect(await kubectl.run('get deployments -l stage=test -o name')).toBe('deployment.apps/web\n')
})

test.each([
  ['json', '[{"op":"replace","path":"/spec/replicas","value":6}]', { replicas: 6 }],
  ['merge', '{"spec":{"paused":true}}', { replicas: 6, paused: true }],
  [
    'strategic',
    '{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"envoy"}]}}}}',
    { template: { spec: { containers: [{ name: 'sidecar' }, { name: 'nginx', image: 'nginx:1.26' }] } } },
  ],
])('patches: %s', async (type, patch, spec) => {
  expect(await kubectl.runArgs(['patch', 'deployment', 'web', `--type=${type}`, '-p', patch])).toBe(
    'deployment.apps/web patched\n',
  )
  expect(await kubectl.json('get deployment web')).toMatchObject({ spec })
})

test('is told what is wrong', async () => {
  const misspelt = DEPLOYMENT('nginx').replace('replicas', 'replica')
  expect((await kubectl.try(['create', '-f', '-'], misspelt)).stderr).toContain('unknown field "spec.replica"')
  expect((await kubectl.try(['scale', 'deployment', 'web', '--replicas=-1'])).code).toBe(1)
  expect((await kubectl.try(['get', 'pod', 'nobody'])).stderr).toBe(
    'Error from server (NotFound): pods "nobody" not found\n',
  )
  expect((await kubectl.try(['get', 'unicorns'])).stderr).toBe(
    'error: the server doesn\'t have a resource type "unicorns"\n',
  )
  expect(
    (
      await kubectl.try([
        'patch',
        'deployment',
        'web',
        '--type=merge',
        '-p',
        '{"spec":{"selector":{"matchLabels":{"app":"x"}}}}',
      ])
    ).stderr,
  ).toMatch(/is invalid: [^]*spec\.selector: [^]*field is immutable/)
})

test('watches, and waits for a condition', async () => {
  const waiting = kubectl.run('wait configmap/settings --for=jsonpath={.data.colour}=yellow --timeout=180s')
  const watching = kubectl.start(['get', 'configmaps', '--watch-only', '-o', 'name'])
  // it does not say when its watch is open
  for (let tries = 0; watching.printed.stdout === ''; tries++)
    await kubectl.runArgs(['patch', 'configmap', 'settings', '-p', `{"data":{"tries":"${tries}"}}`])
  await kubectl.runArgs(['patch', 'configmap', 'settings', '-p', '{"data":{"colour":"yellow"}}'])
  expect(await waiting).toBe('configmap/settings condition met\n')
  watching.end()
  await watching.ended
  expect(watching.printed.stdout).toMatch(/^(configmap\/settings\n)+$/)
})

test('deletes, and waits until it is gone', async () => {
  expect(await kubectl.run('delete configmap settings')).toBe('configmap "settings" deleted from tutorial namespace\n')
  expect(await kubectl.run('delete deployment,service -l app=cache')).toContain('"cache" deleted')
  expect(await kubectl.run('delete -f -', DEPLOYMENT('nginx'))).toContain('deployment.apps "web" deleted')
  expect(await kubectl.run('delete jobs --all')).toContain('job.batch "once" deleted')
  expect(await kubectl.run('get deployments,services,jobs -o name')).toBe('')
  kubectl.namespace = undefined
  expect(await kubectl.run('delete namespace tutorial --timeout=180s')).toBe('namespace "tutorial" deleted\n')
  expect((await kubectl.try(['get', 'namespace', 'tutorial'])).stderr).toContain('not found')
})
