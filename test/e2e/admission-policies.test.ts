// Admission policies as the Kubernetes documentation introduces them: a limit, a limit with a parameter, variables, an
// authorization check, sidecars. The tests build on one another: their order matters.
import { expect, test } from 'vitest'
import { kubectlServerUnderTest } from './kubectl-server.ts'

const kubectl = kubectlServerUnderTest()

const apply = (text: string) => kubectl.run('apply -f -', text)
const refusal = async (line: string, stdin?: string) => (await kubectl.try(line.split(' '), stdin)).stderr
/** A policy takes effect a moment after it is written. */
const eventually = (look: () => Promise<string>) => expect.poll(look)

const deployments = `
    resourceRules:
    - apiGroups: ["apps"]
      apiVersions: ["v1"]
      operations: ["CREATE", "UPDATE"]
      resources: ["deployments"]`

const policy = (name: string, spec: string) => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: ${name}
spec:
  failurePolicy: Fail
${spec}
`
const binding = (name: string, policyName: string, spec: string) => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: ${name}
spec:
  policyName: ${policyName}
${spec}
`
const inEnvironment = (name: string) => `
  matchResources:
    namespaceSelector:
      matchLabels:
        environment: ${name}`

test('namespaces to work in', async () => {
  for (const name of ['test', 'production']) {
    await kubectl.run(`create namespace policies-${name}`)
    await kubectl.run(`label namespace policies-${name} environment=${name}`)
  }
  await eventually(() => kubectl.run('get serviceaccounts -n policies-test -o name')).toBe('serviceaccount/default\n')
})

test('a policy does nothing until it is bound', async () => {
  await apply(
    policy(
      'replicas.example.com',
      `  matchConstraints:${deployments}
  validations:
  - expression: object.spec.replicas <= 5
    messageExpression: "'five replicas at most, and not ' + string(object.spec.replicas)"`,
    ),
  )
  expect(await kubectl.run('-n policies-test create deployment free --image=nginx --replicas=9')).toBe(
    'deployment.apps/free created\n',
  )
})

test('bound to a namespace, it denies what is written there', async () => {
  await apply(
    binding('replicas-test.example.com', 'replicas.example.com', `  validationActions: [Deny]${inEnvironment('test')}`),
  )
  await eventually(() =>
    refusal('-n policies-test create deployment big --image=nginx --replicas=6 --dry-run=server'),
  ).toContain(
    `deployments.apps "big" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'replicas-test.example.com' denied request: five replicas at most, and not 6\n`,
  )
  expect(await kubectl.run('-n policies-test create deployment small --image=nginx --replicas=5')).toBe(
    'deployment.apps/small created\n',
  )
  expect(await kubectl.run('-n policies-production create deployment big --image=nginx --replicas=6')).toBe(
    'deployment.apps/big created\n',
  )
  // The existing Deployment stays; the policy checks updates of it. The rule does not match the scale subresource.
  expect(await refusal('-n policies-test label deployment free a=b')).toContain('and not 9')
  expect(await kubectl.run('-n policies-test scale deployment small --replicas=7')).toBe(
    'deployment.apps/small scaled\n',
  )
})

test('a binding with the action Warn answers with a warning', async () => {
  await kubectl.run(
    `patch validatingadmissionpolicybinding replicas-test.example.com --type=merge -p {"spec":{"validationActions":["Warn","Audit"]}}`,
  )
  await eventually(() =>
    refusal('-n policies-test create deployment big --image=nginx --replicas=6 --dry-run=server'),
  ).toBe(
    `Warning: Validation failed for ValidatingAdmissionPolicy 'replicas.example.com' with binding 'replicas-test.example.com': five replicas at most, and not 6\n`,
  )
})

test('a parameter of a custom kind says how much, for each environment', async () => {
  await apply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: replicalimits.rules.example.com
spec:
  group: rules.example.com
  scope: Cluster
  names: {plural: replicalimits, singular: replicalimit, kind: ReplicaLimit}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          maxReplicas: {type: integer}
`)
  const limits = ['test', 'production'].map(
    (name, at) =>
      `{apiVersion: rules.example.com/v1, kind: ReplicaLimit, metadata: {name: ${name}}, maxReplicas: ${3 + 7 * at}}`,
  )
  await eventually(async () => (await kubectl.try(['apply', '-f', '-'], limits.join('\n---\n'))).stdout).toContain(
    'replicalimit.rules.example.com/production',
  )
  await apply(
    policy(
      'limits.example.com',
      `  paramKind: {apiVersion: rules.example.com/v1, kind: ReplicaLimit}
  matchConstraints:${deployments}
  validations:
  - expression: params == null || object.spec.replicas <= params.maxReplicas
    messageExpression: "'at most ' + string(params.maxReplicas)"
    reason: Forbidden`,
    ),
  )
  for (const name of ['test', 'production'])
    await apply(
      binding(
        `limits-${name}.example.com`,
        'limits.example.com',
        `  validationActions: [Deny]
  paramRef: {name: ${name}, parameterNotFoundAction: Deny}${inEnvironment(name)}`,
      ),
    )
  const create = (namespace: string, replicas: number) =>
    refusal(`-n policies-${namespace} create deployment x --image=nginx --replicas=${replicas} --dry-run=server`)
  await eventually(() => create('test', 4)).toContain('denied request: at most 3\n')
  await eventually(() => create('production', 11)).toContain('denied request: at most 10\n')
  expect(await create('production', 4)).toBe('')
  await kubectl.run('patch replicalimit test --type=merge -p {"maxReplicas":4}')
  await eventually(() => create('test', 4)).not.toContain('denied')
  await kubectl.run('delete replicalimit test')
  await eventually(() => create('test', 1)).toContain(
    'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
  )
  await kubectl.run('delete validatingadmissionpolicybinding limits-test.example.com limits-production.example.com')
})

test('a policy has variables, also of the namespace, and a match condition that exempts requests', async () => {
  await apply(
    policy(
      'images.example.com',
      `  matchConstraints:${deployments}
  matchConditions:
  - name: not-the-platform
    expression: "!request.userInfo.groups.exists(g, g == 'platform')"
  variables:
  - name: environment
    expression: "'environment' in namespaceObject.metadata.labels ? namespaceObject.metadata.labels['environment'] : 'production'"
  - name: exempt
    expression: "has(object.metadata.labels) && 'exempt' in object.metadata.labels && object.metadata.labels['exempt'] == 'true'"
  - name: wrong
    expression: "object.spec.template.spec.containers.filter(c, !c.image.startsWith(variables.environment + '.example.com/'))"
  validations:
  - expression: variables.exempt || variables.wrong.size() == 0
    messageExpression: "'images of ' + variables.environment + ' only: ' + variables.wrong.map(c, string(c.image)).join(', ')"`,
    ),
  )
  await apply(
    binding('images-test.example.com', 'images.example.com', `  validationActions: [Deny]${inEnvironment('test')}`),
  )
  const create = (image: string) => `-n policies-test create deployment y --image=${image} --dry-run=server`
  await eventually(() => refusal(create('nginx'))).toContain('denied request: images of test only: nginx\n')
  expect(await kubectl.run(create('test.example.com/nginx'))).toContain('created')
  expect(await kubectl.run(`${create('nginx')} --as=pat --as-group=platform --as-group=system:masters`)).toContain(
    'created',
  )
  await kubectl.run('delete validatingadmissionpolicybinding images-test.example.com')
})

test('an expression asks the authorizer', async () => {
  await apply(
    policy(
      'break-glass.example.com',
      `  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE", "DELETE"], resources: ["configmaps"]}
  validations:
  - expression: "oldObject.metadata.name != 'sealed' || authorizer.group('example.com').resource('seals').name('sealed').check('break').allowed()"
    message: it is sealed`,
    ),
  )
  await apply(
    binding(
      'break-glass-test.example.com',
      'break-glass.example.com',
      `  validationActions: [Deny]${inEnvironment('test')}`,
    ),
  )
  await kubectl.run('-n policies-test create configmap sealed')
  await kubectl.run('-n policies-test create rolebinding pat --clusterrole=admin --user=pat')
  await eventually(() => refusal('-n policies-test delete configmap sealed --dry-run=server --as=pat')).toContain(
    'denied request: it is sealed\n',
  )
  await apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: policies-seals}
rules: [{apiGroups: [example.com], resources: [seals], verbs: [break]}]
`)
  await kubectl.run('create clusterrolebinding policies-pat --clusterrole=policies-seals --user=pat')
  await eventually(() => refusal('-n policies-test delete configmap sealed --dry-run=server --as=pat')).toBe('')
})

const mutating = (name: string, spec: string) => `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: ${name}}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"]}
    namespaceSelector: {matchLabels: {environment: test}}
  failurePolicy: Fail
${spec}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: ${name}}
`

test('a mutating policy gives pods a sidecar, once, and another one names it in the containers', async () => {
  await apply(
    mutating(
      'sidecar.example.com',
      `  reinvocationPolicy: IfNeeded
  matchConditions:
  - name: has-none
    expression: "!object.spec.?initContainers.orValue([]).exists(c, c.name == 'mesh-proxy')"
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{
          metadata: Object.metadata{annotations: {'sidecar': 'by ' + request.userInfo.username}},
          spec: Object.spec{
            initContainers: [
              Object.spec.initContainers{name: 'mesh-proxy', image: 'mesh/proxy:v1', restartPolicy: 'Always'}
            ]
          }
        }`,
    ),
  )
  await apply(
    mutating(
      'proxied.example.com',
      `  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        object.spec.containers.all(c, !has(c.env)) ?
        [JSONPatch{op: 'add', path: '/spec/containers/0/env', value: [Object.spec.containers.env{name: 'PROXY', value: 'localhost'}]}] :
        [JSONPatch{op: 'test', path: '/kind', value: 'Pod'}]`,
    ),
  )
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: nginx}]}\n'
  const made = () =>
    kubectl.run(
      '-n policies-test create --dry-run=server -f - -o jsonpath={.spec.initContainers[*].name}|{.spec.initContainers[*].imagePullPolicy}|{.spec.containers[0].env}',
      pod,
    )
  await eventually(made).toBe('mesh-proxy|IfNotPresent|[{"name":"PROXY","value":"localhost"}]')
  await kubectl.run('-n policies-test create -f -', pod)
  expect(await kubectl.run('-n policies-test get pod p -o jsonpath={.metadata.annotations.sidecar}')).toMatch(/^by ./)
  // The fields that a policy set have no manager.
  const fields = await kubectl.run(
    '-n policies-test get pod p --show-managed-fields -o jsonpath={.metadata.managedFields}',
  )
  expect(fields).not.toContain('f:initContainers')
})

test('a policy that does not compile is refused', async () => {
  const text = policy(
    'wrong.example.com',
    `  matchConstraints:${deployments}\n  validations: [{expression: "object.spec.replicas <"}]`,
  )
  expect(await refusal('create -f -', text)).toContain('spec.validations[0].expression: Invalid value')
})

test('without policies everything is admitted again', async () => {
  await kubectl.run('delete validatingadmissionpolicies --all')
  await kubectl.run('delete validatingadmissionpolicybindings --all')
  await kubectl.run('delete mutatingadmissionpolicies --all')
  await kubectl.run('delete mutatingadmissionpolicybindings --all')
  await eventually(() =>
    refusal('-n policies-test create deployment huge --image=nginx --replicas=99 --dry-run=server'),
  ).toBe('')
})
