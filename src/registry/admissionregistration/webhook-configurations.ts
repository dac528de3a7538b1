/** ValidatingWebhookConfigurations and MutatingWebhookConfigurations. */
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../api/admissionregistration/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import type { PolicyExpressions } from '../../expressions/policy-expressions.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { inPartsAwaiting, resuming } from '../../base/parts.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { validateLabelSelector } from '../../validation/label-selectors.ts'
import { dns1035Label, dns1123Subdomain } from '../../validation/names.ts'
import { webhookClientErrors } from '../../validation/webhook-client.ts'
import {
  mutatingWebhookConfigurationPrinter,
  validatingWebhookConfigurationPrinter,
} from '../../codec/table/policies.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { policyExpressions } from './expressions.ts'
import { matchConditionErrors } from './match-conditions.ts'
import { choiceErrors, FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES, ruleErrors } from './rules.ts'
import { staticNameErrors, staticNameWarnings, staticNameWarningsOnCreate } from './static-names.ts'
import { errorsOf } from '../../validation/errors-of.ts'

/** Only webhooks of a MutatingWebhookConfiguration have a reinvocation policy. Otherwise both kinds are equal. */
type Configuration = (MutatingWebhookConfiguration | ValidatingWebhookConfiguration) & KubeObject
type Webhook = MutatingWebhook

const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun']
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const REVIEW_VERSIONS = ['v1', 'v1beta1']
const MAX_SECONDS = 30

const webhookConfigurations: BuiltInDefinition<Configuration> = {
  exemptFrom: ['webhooks'],
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  hasGenericMetadata: true,
  countsEmptied: true,
  metadataOnUpdate: 'as new',
  validate: async (configuration, context) => [
    ...staticNameErrors(configuration, context),
    ...(await webhooksErrors(configuration.webhooks, STRICT)),
  ],
  validateUpdate: ({ webhooks = [] }, { webhooks: old = [] }) => webhooksErrors(webhooks, leniencyOf(webhooks, old)),
  warningsOnCreate: staticNameWarningsOnCreate,
  warningsOnUpdate: staticNameWarnings,
}

export const mutatingWebhookConfigurations: BuiltInDefinition<Configuration> = {
  ...webhookConfigurations,
  printer: mutatingWebhookConfigurationPrinter,
}

export const validatingWebhookConfigurations: BuiltInDefinition<Configuration> = {
  ...webhookConfigurations,
  printer: validatingWebhookConfigurationPrinter,
}

/** Errors of the stored configuration, which an update may keep. */
interface Leniency {
  readonly sideEffects?: boolean
  readonly unknownVersions?: boolean
  readonly repeatedNames?: boolean
  readonly labelValues?: boolean
  readonly conditions?: boolean
}

/** Bound: it stays empty. */
const STRICT: Leniency = {}

function leniencyOf(webhooks: readonly Webhook[], old: readonly Webhook[]): Leniency {
  const at = path('webhooks')
  const conditionsOf = (hooks: readonly Webhook[]) => JSON.stringify(hooks.map((hook) => hook.matchConditions ?? null))
  return {
    sideEffects: old.some(({ sideEffects = '' }) => !NO_SIDE_EFFECTS.includes(sideEffects)),
    unknownVersions: old.some(
      ({ admissionReviewVersions: versions = [] }) => versions.length > 0 && !isKnown(versions),
    ),
    repeatedNames: new Set(old.map(({ name }) => name)).size < old.length,
    labelValues: old.some((hook) => selectorErrors(hook, at, STRICT).length > 0),
    conditions: conditionsOf(webhooks) === conditionsOf(old),
  }
}

const isKnown = (versions: readonly string[]): boolean => versions.some((version) => REVIEW_VERSIONS.includes(version))

async function webhooksErrors(webhooks: readonly Webhook[] = [], lenient: Leniency): Promise<FieldError[]> {
  const hasConditions = webhooks.some(({ matchConditions = [] }) => matchConditions.length > 0)
  const inParts = resuming()
  const compiler =
    hasConditions && lenient.conditions !== true
      ? await policyExpressions({ hasParams: false, hasVariables: false })
      : undefined
  const repeats = repeatsIn(webhooks.map(({ name = '' }) => name))
  const errors = () =>
    errorsOf(webhooks, (webhook, index) => {
      const at = path('webhooks').index(index)
      const { name = '', admissionReviewVersions } = webhook
      return [
        ...webhookErrors(webhook, at, lenient, compiler),
        ...versionErrors(admissionReviewVersions, at.child('admissionReviewVersions'), lenient),
        ...(!lenient.repeatedNames && name !== '' && repeats.has(index) ? [duplicate(at.child('name'), name)] : []),
      ]
    })
  return compiler === undefined ? inParts(errors) : inPartsAwaiting(errors, turnOfOthers)
}

/** @param compiler undefined if the match conditions need no check */
function webhookErrors(
  webhook: Webhook,
  at: FieldPath,
  lenient: Leniency,
  compiler: PolicyExpressions | undefined,
): FieldError[] {
  const { name = '', rules = [], sideEffects, timeoutSeconds, clientConfig = {}, matchConditions = [] } = webhook
  const sideEffectsAt = at.child('sideEffects')
  const allowed = lenient.sideEffects ? SIDE_EFFECTS : NO_SIDE_EFFECTS
  return [
    ...nameErrors(name, at.child('name')),
    ...errorsOf(rules, (rule, index) => ruleErrors(rule, at.child('rules').index(index))),
    ...choiceErrors(webhook.failurePolicy, FAILURE_POLICIES, at.child('failurePolicy')),
    ...choiceErrors(webhook.matchPolicy, MATCH_POLICIES, at.child('matchPolicy')),
    ...(sideEffects === undefined
      ? [required(sideEffectsAt, `must specify one of ${allowed.join(', ')}`)]
      : choiceErrors(sideEffects, allowed, sideEffectsAt)),
    ...(timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > MAX_SECONDS)
      ? [
          invalidValue(
            at.child('timeoutSeconds'),
            timeoutSeconds,
            `the timeout value must be between 1 and ${MAX_SECONDS} seconds`,
          ),
        ]
      : []),
    ...selectorErrors(webhook, at, lenient),
    ...choiceErrors(webhook.reinvocationPolicy, REINVOCATION_POLICIES, at.child('reinvocationPolicy')),
    ...webhookClientErrors(clientConfig, at.child('clientConfig')),
    ...(compiler === undefined ? [] : matchConditionErrors(matchConditions, at.child('matchConditions'), compiler)),
  ]
}

const selectorErrors = ({ namespaceSelector, objectSelector }: Webhook, at: FieldPath, lenient: Leniency) =>
  Object.entries({ namespaceSelector, objectSelector }).flatMap(([field, selector]) =>
    validateLabelSelector(at.child(field), selector, { allowInvalidValues: lenient.labelValues === true }),
  )

/** A webhook's name is a domain of three parts or more. */
function nameErrors(name: string, at: FieldPath): FieldError[] {
  if (name === '') return [required(at)]
  const texts = dns1123Subdomain(name)
  if (texts.length > 0) return [invalidValue(at, name, texts.join(','))]
  if (name.split('.').length >= 3) return []
  return [invalidValue(at, name, 'should be a domain with at least three segments separated by dots')]
}

function versionErrors(versions: readonly string[] = [], at: FieldPath, lenient: Leniency): FieldError[] {
  const known = REVIEW_VERSIONS.join(', ')
  if (versions.length === 0) return [required(at, `must specify one of ${known}`)]
  const repeats = repeatsIn(versions)
  const errors = errorsOf(versions, (version, index) => {
    const texts = repeats.has(index) ? ['duplicate version'] : dns1035Label(version)
    return texts.map((text) => invalidValue(at.index(index), version, text))
  })
  if (!lenient.unknownVersions && !isKnown(versions))
    errors.push(invalidValue(at, versions, `must include at least one of ${known}`))
  return errors
}
