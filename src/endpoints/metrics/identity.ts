/** Metrics of authentication and authorization, under kube-apiserver's names. */
import { sha256 } from '../../base/sha256.ts'
import { authenticationCounts } from '../../authentication/authentication-counts.ts'
import { externalSigner } from '../../authentication/external-signer.ts'
import { issuersReloads } from '../../authentication/issuers/issuers.ts'
import type { Reloaded } from '../../authentication/reloaded.ts'
import { authorizationCounts } from '../../authorization/authorization-counts.ts'
import { chainReloads } from '../../authorization/chain.ts'
import { serverIdentity } from '../../bootstrap/server-objects.ts'
import type { Labels, Sample } from '../../metrics/series.ts'
import type { ApiRequest } from '../../request/context.ts'

export type Row = readonly [
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: readonly Sample[],
]

const hashOf = (text: string): string =>
  `sha256:${[...sha256(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`

export async function identityRows(request: ApiRequest): Promise<Row[]> {
  const { env, tenant } = request
  const issuers = issuersReloads(env)
  await issuers?.current(request)
  const server = { apiserver_id_hash: hashOf(await serverIdentity(tenant)) }
  return [
    ...reloadRows('authentication', issuers, server),
    ...reloadRows('authorization', chainReloads(env), server),
    ...(await issuerRows(request, server)),
    ...authenticationRows(request),
    ...authorizationRows(request),
    ...signerRows(request),
  ]
}

/** Reloads of a configuration file; no rows where it has no file. */
function reloadRows(
  name: 'authentication' | 'authorization',
  reloads: Pick<Reloaded<never>, 'counts' | 'text'> | undefined,
  server: Labels,
): Row[] {
  if (reloads === undefined) return []
  const { success, failure, lastSuccess, lastFailure } = reloads.counts
  const by = (values: Readonly<Record<string, number | undefined>>): Sample[] =>
    Object.entries(values).flatMap(([status, value]) =>
      value === undefined || value === 0 ? [] : [{ labels: { ...server, status }, value }],
    )
  const prefix = `apiserver_${name}_config_controller`
  return [
    [
      `${prefix}_automatic_reload_last_timestamp_seconds`,
      'gauge',
      `When the ${name} configuration was last reloaded, and when that last failed.`,
      by({ failure: lastFailure, success: lastSuccess }),
    ],
    [`${prefix}_automatic_reloads_total`, 'counter', `Reloads of the ${name} configuration.`, by({ failure, success })],
    [
      `${prefix}_last_config_info`,
      'gauge',
      `The ${name} configuration that is in force.`,
      [{ labels: { ...server, hash: hashOf(reloads.text) }, value: 1 }],
    ],
  ]
}

/** The keys of the issuers in the current configuration. */
async function issuerRows({ env, tenant }: ApiRequest, server: Labels): Promise<Row[]> {
  const found = await issuersReloads(env)?.start()
  if (found === undefined) return []
  const all = [...found.byUrl].map(([url, { keyFetches }]) => ({
    labels: { jwt_issuer_hash: hashOf(url), ...server },
    ...keyFetches,
  }))
  const prefix = 'apiserver_authentication_jwt_authenticator'
  return [
    [
      `${prefix}_jwks_fetch_last_key_set_info`,
      'gauge',
      'The keys of each issuer that were fetched last.',
      all.flatMap(({ labels, text }) =>
        text === undefined ? [] : [{ labels: { ...labels, hash: hashOf(text) }, value: 1 }],
      ),
    ],
    [
      `${prefix}_jwks_fetch_last_timestamp_seconds`,
      'gauge',
      'When the keys of each issuer were last fetched, and when that last failed.',
      all.flatMap(({ labels, success, failure }) =>
        Object.entries({ failure, success }).flatMap(([result, value]) =>
          value === undefined ? [] : [{ labels: { result, ...labels }, value }],
        ),
      ),
    ],
    [
      `${prefix}_latency_seconds`,
      'histogram',
      'Time that tokens of issuers took that were not known yet.',
      authenticationCounts(tenant)
        .issued.samples()
        .map(({ labels: { url = '', ...labels }, ...sample }) => ({
          ...sample,
          labels: { jwt_issuer_hash: hashOf(url), ...labels },
        })),
    ],
  ]
}

function authenticationRows({ tenant }: ApiRequest): Row[] {
  const { attempts, durations } = authenticationCounts(tenant)
  return [
    [
      'authentication_attempts',
      'counter',
      'Requests by whether they said who sends them: failure is for none that had to, error for bad credentials.',
      attempts.samples(),
    ],
    ['authentication_duration_seconds', 'histogram', 'Time that it took to know who asks.', durations.samples()],
  ]
}

function authorizationRows({ tenant }: ApiRequest): Row[] {
  const all = authorizationCounts(tenant)
  return [
    [
      'apiserver_authorization_decisions_total',
      'counter',
      'Decisions by the authorizer that made them.',
      all.decisions.samples(),
    ],
    [
      'apiserver_authorization_match_condition_evaluation_errors_total',
      'counter',
      'Match conditions that failed.',
      all.conditionErrors.samples(),
    ],
    [
      'apiserver_authorization_match_condition_evaluation_seconds',
      'histogram',
      'Time that match conditions took.',
      all.conditionTimes.samples(),
    ],
    [
      'apiserver_authorization_match_condition_exclusions_total',
      'counter',
      'Questions that match conditions kept from webhooks.',
      all.conditionExclusions.samples(),
    ],
    [
      'apiserver_authorization_webhook_duration_seconds',
      'histogram',
      'Time that questions to webhooks took.',
      all.webhookTimes.samples(),
    ],
    [
      'apiserver_authorization_webhook_evaluations_fail_open_total',
      'counter',
      'Questions to webhooks that failed and left the decision to others.',
      all.webhookFailOpens.samples(),
    ],
    ['apiserver_authorization_webhook_evaluations_total', 'counter', 'Questions to webhooks.', all.webhooks.samples()],
    ['authorization_attempts_total', 'counter', 'Requests by whether they were allowed.', all.attempts.samples()],
    [
      'authorization_duration_seconds',
      'histogram',
      'Time that it took to know whether they are allowed.',
      all.durations.samples(),
    ],
  ]
}

/** No rows where this server signs itself. */
function signerRows({ env }: ApiRequest): Row[] {
  const counts = externalSigner(env)?.counts
  if (counts === undefined) return []
  const prefix = 'apiserver_externaljwt'
  const when = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ labels: {}, value }])
  return [
    [
      `${prefix}_fetch_keys_data_timestamp`,
      'gauge',
      'How old the keys are, as the signer says.',
      when(counts.keysMade),
    ],
    [`${prefix}_fetch_keys_request_total`, 'counter', 'Calls of FetchKeys.', counts.fetches.samples()],
    [`${prefix}_fetch_keys_success_timestamp`, 'gauge', 'When keys were last fetched.', when(counts.keysFetched)],
    [`${prefix}_request_duration_seconds`, 'histogram', 'Time that calls of the signer took.', counts.times.samples()],
    [`${prefix}_sign_request_total`, 'counter', 'Tokens that were to be signed.', counts.signs.samples()],
  ]
}
