import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { Attributes } from '../../../src/admission/attributes.ts'
import { MAX_PARAMS } from '../../../src/admission/policies/params.ts'
import { validatingAdmissionPolicy } from '../../../src/admission/policies/validating-admission-policy.ts'
import { measurementsOf } from '../../../src/metrics/measurements.ts'
import { RequestRecord } from '../../../src/request/record.ts'
import type { Given } from './policy-server.ts'
import { attributesOf, CONFIG_MAPS, configMap, policyServer, run } from './policy-server.ts'

const NEVER: JsonObject = { validations: [{ expression: 'false', message: 'never' }] }
const saying = (messageExpression: string, more: JsonObject = {}): JsonObject => ({
  validations: [{ expression: 'false', message: 'nothing', messageExpression }],
  ...more,
})
const rules = (...resourceRules: JsonObject[]): JsonObject => ({ matchConstraints: { ...CONFIG_MAPS, resourceRules } })
const RULE = (CONFIG_MAPS['resourceRules'] as JsonObject[])[0]!

async function validate(given: Given, more: Partial<Attributes> = {}) {
  const server = await policyServer('validating', given)
  const attributes = attributesOf(server, more)
  const record = new RequestRecord()
  Object.assign(attributes.request, { record })
  const error: unknown = await run(validatingAdmissionPolicy, attributes).catch((thrown: unknown) => thrown)
  return { error, warnings: attributes.request.warnings, annotations: Object.fromEntries(record.annotations) }
}

const policy = (spec: JsonObject): Given => ({ policies: { p: spec } })
const denial = (why: string, code = 422, reason = 'Invalid') => {
  const message = `ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: ${why}`
  return {
    code,
    status: {
      message: `configmaps "a" is forbidden: ${message}`,
      reason,
      details: { name: 'a', kind: 'configmaps', causes: [{ message }] },
    },
  }
}

describe('which requests a policy matches', () => {
  const SECRETS = { ...RULE, resources: ['secrets'] }
  test.each<[string, JsonObject, Partial<Attributes>?]>([
    ['rules', {}],
    ['a resource name', rules({ ...RULE, resourceNames: ['b', 'a'] })],
    ['any resource', rules({ ...RULE, apiGroups: ['*'], resources: ['*'] })],
    ['rules that others exclude in part', rules(SECRETS, RULE)],
    ['a namespace', { matchConstraints: { ...CONFIG_MAPS, namespaceSelector: { matchLabels: { colour: 'blue' } } } }],
    [
      'an old object',
      { matchConstraints: { ...CONFIG_MAPS, objectSelector: { matchLabels: { app: 'web' } } } },
      { operation: 'UPDATE', oldObject: configMap({ metadata: { name: 'a', labels: { app: 'web' } } }) },
    ],
    ['a deletion', {}, { operation: 'DELETE', object: undefined, oldObject: configMap() }],
    ['conditions that hold', { matchConditions: [{ name: 'c', expression: 'object.metadata.name == "a"' }] }],
  ])('%s', async (_, spec, more) => {
    expect((await validate(policy({ ...NEVER, ...spec }), more)).error).toMatchObject(denial('never'))
  })

  test.each<[string, Given, Partial<Attributes>?]>([
    ['another resource', policy({ ...NEVER, ...rules(SECRETS) })],
    ['another name', policy({ ...NEVER, ...rules({ ...RULE, resourceNames: ['b'] }) })],
    ['a subresource', policy(NEVER), { subresource: 'status' }],
    ['what is excluded', policy({ ...NEVER, matchConstraints: { ...CONFIG_MAPS, excludeResourceRules: [RULE] } })],
    [
      'another namespace',
      policy({ ...NEVER, matchConstraints: { ...CONFIG_MAPS, namespaceSelector: { matchLabels: { colour: 'red' } } } }),
    ],
    [
      'no condition that is false',
      policy({
        ...NEVER,
        matchConditions: [
          { name: 'c', expression: '1 / 0 == 1' },
          { name: 'd', expression: 'false' },
        ],
      }),
    ],
    ['nothing without a binding', { policies: { p: NEVER }, bindings: {} }],
    ['nothing by a binding of another policy', { policies: { p: NEVER }, bindings: { b: { policyName: 'q' } } }],
    [
      'nothing where the binding is about something else',
      {
        policies: { p: NEVER },
        bindings: {
          'p-b': {
            policyName: 'p',
            validationActions: ['Deny'],
            matchResources: { objectSelector: { matchLabels: { a: 'b' } } },
          },
        },
      },
    ],
  ])('not %s', async (_, given, more) => {
    expect((await validate(given, more)).error).toBeUndefined()
  })

  test('a version of the resource that the rules name: expressions see the objects in it', async () => {
    const scalers = { ...RULE, apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] }
    const object = {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v2',
      metadata: { name: 'a' },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'd' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
        ],
      },
    }
    const text =
      "object.apiVersion + ' ' + request.resource.version + ' ' + request.requestKind.version + ' ' + string(object.spec.targetCPUUtilizationPercentage)"
    const { error } = await validate(policy({ ...saying(text), ...rules(scalers) }), {
      resource: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
      kind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
      object,
    })
    expect(error).toMatchObject({ message: expect.stringContaining('denied request: autoscaling/v1 v1 v2 80') })
  })

  test('policies and reviews are beyond policies', async () => {
    const all = { ...NEVER, ...rules({ ...RULE, apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }) }
    const of = (group: string, resource: string) => ({ resource: { group, version: 'v1', resource }, namespace: '' })
    for (const beyond of [
      of('admissionregistration.k8s.io', 'validatingadmissionpolicybindings'),
      of('admissionregistration.k8s.io', 'mutatingadmissionpolicies'),
      of('authorization.k8s.io', 'subjectaccessreviews'),
      of('authentication.k8s.io', 'tokenreviews'),
    ])
      expect((await validate(policy(all), beyond)).error).toBeUndefined()
    expect(
      (await validate(policy(all), of('admissionregistration.k8s.io', 'validatingwebhookconfigurations'))).error,
    ).toMatchObject({ code: 422 })
  })
})

describe('the variables of expressions', () => {
  test.each<[string, string, Partial<Attributes>?]>([
    ["object.data.map(k, k + object.data[k]).join(',')", 'ab'],
    ['string(oldObject == null)', 'true'],
    [
      "string(object == null) + ' ' + oldObject.kind + ' ' + string(request.options.gracePeriodSeconds) + request.options.kind",
      'true ConfigMap 0DeleteOptions',
      {
        operation: 'DELETE',
        object: undefined,
        oldObject: configMap(),
        options: { gracePeriodSeconds: 0, dryRun: false },
      },
    ],
    ["namespaceObject.metadata.labels['colour'] + string(namespaceObject.metadata.name)", 'blueblue'],
    [
      'string(namespaceObject == null)',
      'true',
      {
        kind: { group: '', version: 'v1', kind: 'Namespace' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
      },
    ],
    ['request.userInfo.username + request.userInfo.groups[0] + string(has(request.userInfo.extra))', 'evedevfalse'],
    ['request.operation + request.name + request.namespace + string(request.dryRun)', 'CREATEabluefalse'],
    ['string(variables.twice + variables.twice)', 'aaaa'],
  ])('%s', async (messageExpression, said, more) => {
    const spec = saying(messageExpression, {
      variables: [{ name: 'twice', expression: 'object.metadata.name + object.metadata.name' }],
    })
    expect((await validate(policy(spec), more)).error).toMatchObject({
      message: expect.stringMatching(`denied request: ${said}$`),
    })
  })

  test.each([
    ["authorizer.group('').resource('configmaps').namespace('blue').check('get').allowed()", true],
    ["authorizer.group('').resource('configmaps').namespace('red').check('get').allowed()", false],
    ["authorizer.requestResource.check('get').allowed()", true],
    ["authorizer.requestResource.check('delete').allowed() || authorizer.requestResource.check('get').allowed()", true],
    ["authorizer.path('/healthz').check('get').allowed()", false],
    ["authorizer.serviceAccount('blue', 'robot').requestResource == null", undefined],
    [
      "authorizer.serviceAccount('blue', 'robot').group('').resource('pods').namespace('blue').check('list').allowed()",
      true,
    ],
    ['variables.may', true],
  ])('%s is %s', async (expression, answer) => {
    const role = (name: string, resource: string, verb: string) => ({
      metadata: { name, namespace: 'blue' },
      rules: [{ apiGroups: [''], resources: [resource], verbs: [verb] }],
    })
    const bound = (name: string, subject: JsonObject) => ({
      metadata: { name, namespace: 'blue' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [subject],
    })
    const { error } = await validate({
      policies: {
        p: {
          validations: [{ expression, message: 'no' }],
          variables: [{ name: 'may', expression: "authorizer.requestResource.check('get').allowed()" }],
        },
      },
      objects: {
        'roles.rbac.authorization.k8s.io': [role('reads', 'configmaps', 'get'), role('lists', 'pods', 'list')],
        'rolebindings.rbac.authorization.k8s.io': [
          bound('reads', { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }),
          bound('lists', { kind: 'ServiceAccount', name: 'robot', namespace: 'blue' }),
        ],
      },
    })
    if (answer === true) expect(error).toBeUndefined()
    else
      expect(error).toMatchObject(
        answer === false ? denial('no') : { message: expect.stringContaining('compilation error') },
      )
  })
})

describe('the answers', () => {
  const text = "expression 'object.none.a == 1' resulted in error: no such key: none"
  const validation = (more: JsonObject): JsonObject => ({ validations: [{ expression: 'false', ...more }] })
  test.each<[string, JsonObject, ReturnType<typeof denial>]>([
    ['the expression', validation({}), denial('failed expression: false')],
    ['a message', validation({ message: ' no ' }), denial('no')],
    [
      'a made message',
      validation({ message: 'no', messageExpression: "'not ' + object.metadata.name" }),
      denial('not a'),
    ],
    ['the message where none is made', validation({ message: 'no', messageExpression: 'object.none' }), denial('no')],
    ['the message where an empty one is made', validation({ message: 'no', messageExpression: "' '" }), denial('no')],
    ['the message where lines are made', validation({ message: 'no', messageExpression: "'a\\nb'" }), denial('no')],
    ['a reason', validation({ message: 'no', reason: 'Forbidden' }), denial('no', 403, 'Forbidden')],
    ['another reason', validation({ message: 'no', reason: 'Unauthorized' }), denial('no', 401, 'Unauthorized')],
    [
      'a third reason',
      validation({ message: 'no', reason: 'RequestEntityTooLarge' }),
      denial('no', 413, 'RequestEntityTooLarge'),
    ],
    ['an error', validation({ expression: 'object.none.a == 1' }), denial(text)],
    [
      'an error of a variable',
      { variables: [{ name: 'v', expression: 'object.none.a' }], ...validation({ expression: 'variables.v == 1' }) },
      denial(
        `expression 'variables.v == 1' resulted in error: composited variable "v" fails to evaluate: no such key: none`,
      ),
    ],
    [
      'an expression that does not compile',
      validation({ expression: '1' }),
      denial('compilation error: must evaluate to bool but got int'),
    ],
    [
      'conditions that cannot be told',
      {
        ...NEVER,
        matchConditions: [
          { name: 'a', expression: 'object.none.a == 1' },
          { name: 'b', expression: 'object.b == 1' },
        ],
      },
      denial(`[${text}, expression 'object.b == 1' resulted in error: no such key: b]`),
    ],
    [
      'a message that may not ask the authorizer',
      validation({ message: 'no', messageExpression: "string(authorizer.path('/a').check('get').allowed())" }),
      denial('no'),
    ],
    [
      'a value of an annotation that cannot be made',
      { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.none.a)' }] },
      denial(`expression 'string(object.none.a)' resulted in error: no such key: none`),
    ],
  ])('%s', async (_, spec, answer) => {
    expect((await validate(policy(spec))).error).toMatchObject(answer)
  })

  test.each<[string, JsonObject]>([
    ['an error of a validation', validation({ expression: 'object.none.a == 1' })],
    ['an error of a condition', { ...NEVER, matchConditions: [{ name: 'a', expression: 'object.none.a == 1' }] }],
    ['an error of an annotation', { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.none.a)' }] }],
    ['a paramKind that is not served', { ...NEVER, paramKind: { apiVersion: 'example.com/v1', kind: 'None' } }],
  ])('%s is ignored where the policy says so', async (_, spec) => {
    expect((await validate(policy({ ...spec, failurePolicy: 'Ignore' }))).error).toBeUndefined()
  })

  test('a policy that cannot be used is not ignored for a client that is gone, which may be the reason', async () => {
    const spec = { ...NEVER, paramKind: { apiVersion: 'example.com/v1', kind: 'None' }, failurePolicy: 'Ignore' }
    const attributes = attributesOf(await policyServer('validating', policy(spec)))
    const gone = AbortSignal.abort()
    Object.assign(attributes.request, { gone: () => gone })
    await expect(run(validatingAdmissionPolicy, attributes)).rejects.toMatchObject({ code: 504 })
  })

  test.each([
    [33_000, undefined],
    [34_000, { code: 504, status: { reason: 'Timeout' } }],
  ])('a write of %i ms is not evaluated longer than a write may take', async (after, expected) => {
    const server = await policyServer('validating', policy(validation({ expression: 'true' })))
    const attributes = attributesOf(server)
    server.now = new Date(server.now.getTime() + after)
    const error = await run(validatingAdmissionPolicy, attributes).catch((why: unknown) => why)
    if (expected === undefined) expect(error).toBeUndefined()
    else expect(error).toMatchObject(expected)
  })

  test('the first denial, in the order of names, and what comes before it is warned of and noted', async () => {
    const { error, warnings, annotations } = await validate({
      policies: {
        b: validation({ message: 'second', reason: 'Forbidden' }),
        a: { validations: [{ expression: 'true' }, { expression: 'false', message: 'first <' }] },
      },
      bindings: {
        w: { policyName: 'a', validationActions: ['Warn', 'Audit'] },
        z: { policyName: 'b', validationActions: ['Deny'] },
      },
    })
    expect(warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'a' with binding 'w': first <"])
    expect(annotations).toEqual({
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"first \\u003c","policy":"a","binding":"w","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
    })
    expect(error).toMatchObject({
      code: 403,
      message: expect.stringContaining("'b' with binding 'z' denied request: second"),
    })
  })

  test('annotations of the audit log: different values of the bindings stand in one', async () => {
    const param = (name: string) => configMap({ metadata: { name, namespace: 'blue' }, data: { word: name } })
    const by = (name: string): JsonObject => ({
      policyName: 'p',
      validationActions: ['Deny'],
      paramRef: { name, parameterNotFoundAction: 'Deny' },
    })
    const { annotations, error } = await validate({
      policies: {
        p: {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          validations: [{ expression: 'true' }],
          auditAnnotations: [
            { key: 'k', valueExpression: "'word ' + params.data.word" },
            { key: 'same', valueExpression: 'string(object.metadata.name)' },
            { key: 'none', valueExpression: 'null' },
            { key: 'empty', valueExpression: "' '" },
          ],
        },
      },
      bindings: { a: by('one'), b: by('two') },
      objects: { configmaps: [param('one'), param('two')] },
    })
    expect(error).toBeUndefined()
    expect(annotations).toEqual({ 'p/k': 'word one, word two', 'p/same': 'a' })
  })

  test('the outcome of a validation is counted', async () => {
    const server = await policyServer('validating', {
      policies: {
        p: { validations: [{ expression: 'true' }, { expression: 'false' }, { expression: '1' }] },
        q: { ...validation({ expression: 'object.none.a' }), failurePolicy: 'Ignore' },
      },
      bindings: {
        'p-b': { policyName: 'p', validationActions: ['Warn', 'Audit'] },
        'q-b': { policyName: 'q', validationActions: ['Deny'] },
      },
    })
    const attributes = attributesOf(server)
    await run(validatingAdmissionPolicy, attributes)
    const samples = measurementsOf(attributes.request).policyChecks.validating.samples()
    expect(samples.map(({ labels, value }) => `${Object.values(labels).join(' ')} ${value}`)).toEqual([
      'warn invalid_error p p-b 1',
      'audit invalid_error p p-b 1',
      'warn compile_error p p-b 1',
      'audit compile_error p p-b 1',
      'allow compile_error q q-b 1',
    ])
  })

  test('a name that is yet to be generated', async () => {
    const { error } = await validate(policy(NEVER), {
      name: '',
      object: configMap({ metadata: { generateName: 'x-' } }),
    })
    expect(error).toMatchObject({ message: expect.stringContaining('configmaps "x-" is forbidden') })
    const collection = await validate(policy(NEVER), {
      name: '',
      operation: 'DELETE',
      object: undefined,
      oldObject: configMap(),
    })
    expect(collection.error).toMatchObject({ message: expect.stringContaining('configmaps "Unknown" is forbidden') })
  })
})

describe('parameters', () => {
  const SPEC: JsonObject = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      { expression: 'false', messageExpression: "params == null ? 'no params' : string(params.metadata.name)" },
    ],
  }
  const param = (name: string, namespace: string): KubeObject & JsonObject =>
    configMap({ metadata: { name, namespace, labels: { use: name.slice(0, 1) } } })
  const withParams = (paramRef: JsonObject | undefined, spec: JsonObject = SPEC): Given => ({
    policies: { p: spec },
    bindings: { 'p-b': { policyName: 'p', validationActions: ['Warn', 'Deny'], ...(paramRef && { paramRef }) } },
    objects: { configmaps: [param('a1', 'blue'), param('a2', 'blue'), param('b1', 'blue'), param('a3', 'red')] },
  })
  const said = async (given: Given, more?: Partial<Attributes>) => {
    const { error, warnings } = await validate(given, more)
    const start = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': "
    const first = error instanceof Error ? error.message.replace(/^.*denied request: /, '') : undefined
    return { first, all: warnings.map((text) => text.slice(start.length)) }
  }

  test.each<[string, JsonObject | undefined, readonly string[]]>([
    ['by name, of the namespace of the request', { name: 'a1' }, ['a1']],
    ['by name, of a namespace', { name: 'a3', namespace: 'red' }, ['a3']],
    ['by labels', { selector: { matchLabels: { use: 'a' } } }, ['a1', 'a2']],
    ['all of a namespace', { selector: {}, namespace: 'red' }, ['a3']],
    ['none given', undefined, ['no params']],
    ['none there, which may be', { name: 'c', parameterNotFoundAction: 'Allow' }, []],
  ])('%s', async (_, paramRef, all) => {
    expect(await said(withParams(paramRef))).toEqual({ first: all[0], all })
  })

  test.each<[string, JsonObject | undefined, JsonObject, Partial<Attributes>, string]>([
    [
      'none there',
      { name: 'c', parameterNotFoundAction: 'Deny' },
      {},
      {},
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    [
      'a kind that is not served',
      { name: 'c' },
      { paramKind: { apiVersion: 'example.com/v1', kind: 'None' } },
      {},
      "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'",
    ],
    [
      'a namespace for what is cluster-scoped',
      { name: 'c', namespace: 'blue' },
      { paramKind: { apiVersion: 'v1', kind: 'Namespace' } },
      {},
      'failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
    [
      'no namespace',
      { name: 'c' },
      {},
      { namespace: '' },
      'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    ],
    [
      'what is never kept',
      { name: 'c' },
      { paramKind: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' } },
      {},
      'failed to configure binding: paramKind kind `&ParamKind{APIVersion:authentication.k8s.io/v1,Kind:TokenReview,}` not yet synced to use for admission',
    ],
  ])('%s: the request fails', async (_, paramRef, spec, more, why) => {
    expect(await said(withParams(paramRef, { ...SPEC, ...spec }), more)).toEqual({ first: why, all: [] })
  })

  test('are not without number', async () => {
    const many = Array.from({ length: MAX_PARAMS + 1 }, (_, at) => param(`c${at}`, 'red'))
    const given = withParams({ selector: { matchLabels: { use: 'c' } }, namespace: 'red' })
    expect(await said({ ...given, objects: { configmaps: many } })).toEqual({
      first: 'failed to configure binding: paramRef.selector must not select more than 1000 objects',
      all: [],
    })
  })

  test('of a custom kind, in the version that the policy names', async () => {
    const version = (name: string, storage: boolean) => ({
      name,
      storage,
      served: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { limit: { type: 'integer' } } } },
    })
    const names = { plural: 'limits', kind: 'Limit' }
    const { first } = await said({
      ...withParams(
        { name: 'small' },
        {
          paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' },
          validations: [{ expression: 'false', messageExpression: "params.apiVersion + ' ' + string(params.limit)" }],
        },
      ),
      objects: {
        'customresourcedefinitions.apiextensions.k8s.io': [
          {
            metadata: { name: 'limits.example.com', generation: 1 },
            spec: {
              group: 'example.com',
              names,
              scope: 'Cluster',
              versions: [version('v1', false), version('v2', true)],
            },
            status: {
              acceptedNames: names,
              conditions: [{ type: 'Established', status: 'True' }],
              storedVersions: ['v2'],
            },
          } as unknown as KubeObject & JsonObject, // a literal without the interface's index
        ],
        'limits.example.com': [{ kind: 'Limit', apiVersion: 'example.com/v2', metadata: { name: 'small' }, limit: 3 }],
      },
    })
    expect(first).toBe('example.com/v1 3')
  })
})

describe('budgets: an expression may spend a million units, all together ten; a check takes 350,000', () => {
  const check = "authorizer.path('/healthz').check('get').allowed()"
  const checks = (times: number) => `${Array.from({ length: times }, () => check).join(' || ')} || true`

  test('an expression that costs too much fails, and the next one runs', async () => {
    const validations = [{ expression: checks(3) }, { expression: 'false', message: 'no' }]
    expect((await validate(policy({ failurePolicy: 'Ignore', validations }))).error).toMatchObject(denial('no'))
    expect((await validate(policy({ validations: [{ expression: checks(2) }] }))).error).toBeUndefined()
    const why = `expression '${checks(3)}' resulted in error: operation cancelled: actual cost limit exceeded`
    expect((await validate(policy({ validations }))).error).toMatchObject(denial(why))
  })

  test('variables count once, and together with what names them', async () => {
    const variables = Array.from({ length: 30 }, (_, i) => ({ name: `v${i}`, expression: check }))
    const once = { variables, validations: variables.map(() => ({ expression: 'variables.v0 || true' })) }
    expect((await validate(policy(once))).error).toBeUndefined()
    const each = { variables, validations: variables.map(({ name }) => ({ expression: `variables.${name} || true` })) }
    const why = 'validation failed due to running out of cost budget, no further validation rules will be run'
    expect((await validate(policy(each))).error).toMatchObject(denial(why))
    const inOne = {
      variables,
      validations: [{ expression: `${variables.map(({ name }) => `variables.${name}`).join(' || ')} || true` }],
    }
    expect((await validate(policy(inOne))).error).toMatchObject(denial(why))
  })

  test('conditions have a quarter of that', async () => {
    const variables = Array.from({ length: 8 }, (_, i) => ({ name: `v${i}`, expression: check }))
    const conditions = (many: number) =>
      policy({
        ...NEVER,
        variables,
        matchConditions: variables
          .slice(0, many)
          .map(({ name }) => ({ name, expression: `variables.${name} || true` })),
      })
    expect((await validate(conditions(7))).error).toMatchObject(denial('never'))
    const why = 'validation failed due to running out of cost budget, no further validation rules will be run'
    expect((await validate(conditions(8))).error).toMatchObject(denial(why))
  })
})
