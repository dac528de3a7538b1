/** The cases of expressions.ts: CEL expressions as in policies and definitions, about one object. */
import type { Json, JsonObject } from '../../src/api/object.ts'
import type { JsonLike } from '../../src/cel/values/json-value.ts'
import { valueOfJson } from '../../src/cel/values/json-value.ts'
import { compileAdmissionExpression } from '../../src/expressions/admission-expressions.ts'
import { admissionEnvironment, PER_CALL_LIMIT } from '../../src/expressions/environments.ts'
import { ruleTreeOf } from '../../src/expressions/rule-tree.ts'
import { validateByRules } from '../../src/expressions/validate-rules.ts'

const container = (n: number): JsonObject => ({ name: `c${n}`, image: `registry.example.com/app:${n}`, port: 8080 + n })
const object: JsonObject = {
  metadata: { name: 'web', labels: { app: 'web', tier: 'front' } },
  spec: {
    replicas: 3,
    maxReplicas: 5,
    host: 'www.example.com',
    containers: Array.from({ length: 10 }, (_, n) => container(n)),
  },
}

/** Expressions by what they measure. The first is the typical one. */
export const EXPRESSIONS: Readonly<Record<string, string>> = {
  'two fields compared': 'object.spec.replicas <= object.spec.maxReplicas',
  'a label that must be there':
    'has(object.metadata.labels) && "app" in object.metadata.labels && object.metadata.labels["app"] != ""',
  'a prefix, where there is a field': '!has(object.spec.host) || object.spec.host.startsWith("www.")',
  'a pattern': 'object.spec.host.matches("^[a-z0-9.-]+$")',
  'ten containers, each asked twice':
    'object.spec.containers.all(c, c.port > 1024 && c.image.startsWith("registry.example.com/"))',
}

/** @returns a function that evaluates the expression once */
export function evaluating(expression: string): () => unknown {
  const { program, problem } = {
    problem: undefined,
    ...compileAdmissionExpression(expression, admissionEnvironment({}), 'validation'),
  }
  if (program === undefined) throw new Error(problem)
  return () => {
    // each request makes new CEL values
    const value = valueOfJson(object as Json as JsonLike)
    const result = program.run((name) => (name === 'object' ? value : undefined), PER_CALL_LIMIT)
    if (result.value !== true) throw new Error(`${expression}: ${String(result.value)}`)
    return result
  }
}

export const RULES = 20

/** @param n makes each schema different */
const ruledSchema = (n: number): JsonObject => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: RULES }, (_, at): [string, JsonObject] => [
          `field${at}`,
          {
            type: 'object',
            properties: {
              low: { type: 'integer' },
              high: { type: 'integer' },
              name: { type: 'string', maxLength: 63 },
            },
            'x-kubernetes-validations': [
              {
                rule: `self.low + ${n} <= self.high + ${n} && (!has(self.name) || self.name.startsWith("n"))`,
                message: 'low first',
              },
            ],
          },
        ]),
      ),
    },
  },
})

const ruledValue: JsonObject = {
  spec: Object.fromEntries(Array.from({ length: RULES }, (_, at) => [`field${at}`, { low: 1, high: 2, name: 'n' }])),
}

/**
 * Compiles the rules of a definition and validates an object by them. @returns a function that validates another object
 */
export function firstUse(n: number): () => void {
  const tree = ruleTreeOf(ruledSchema(n), true)!
  const validate = (): void => {
    const { errors } = validateByRules(tree, ruledValue)
    if (errors.length > 0) throw new Error(String(errors[0]))
  }
  validate()
  return validate
}
