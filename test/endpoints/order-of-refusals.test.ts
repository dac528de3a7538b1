/** Of a request with several faults, the answer names the one that kube-apiserver finds first. */
import { expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const WATCHES = '/api/v1/watch/namespaces/default/configmaps'

const NO_PRODUCED = '406: Not Acceptable'
const NO_STREAM =
  'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const NO_REQUIREMENT = "found ',', expected: !, identifier, or 'end of string'"
const EXPORT = 'the export parameter, deprecated since v1.14, is no longer supported'

const ask = (path: string, accept: string) => {
  const headers = { Authorization: `Bearer ${TOKEN}`, Accept: accept }
  return answer(memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN }).request(path, { headers }))
}

test.each([
  // a list: the media types first, then the options
  [`${CONFIG_MAPS}?limit=x`, 'text/plain', NO_PRODUCED],
  [`${CONFIG_MAPS}?resourceVersionMatch=x`, 'text/plain', NO_PRODUCED],
  [`${CONFIG_MAPS}?sendInitialEvents=true`, 'text/plain', NO_PRODUCED],
  [`${CONFIG_MAPS}?labelSelector=,`, 'text/plain', NO_PRODUCED],
  // a watch: the same, and the media types of streams at the end
  [`${CONFIG_MAPS}?watch=1&limit=x`, 'text/plain', NO_PRODUCED],
  [`${WATCHES}?sendInitialEvents=true`, 'text/plain', NO_PRODUCED],
  [`${CONFIG_MAPS}?watch=1&limit=x`, 'application/yaml', 'strconv.ParseInt: parsing "x": invalid syntax'],
  [`${WATCHES}?labelSelector=,`, 'application/yaml', NO_REQUIREMENT],
  [`${CONFIG_MAPS}?watch=1&fieldSelector=a=b`, 'application/yaml', '"a" is not a known field selector'],
  [`${CONFIG_MAPS}?watch=1&resourceVersion=x`, 'application/yaml', 'strconv.ParseUint: parsing "x": invalid syntax'],
  [WATCHES, 'application/yaml', NO_STREAM],
  // one object
  [`${CONFIG_MAPS}/a?export=1&resourceVersion=x`, 'text/plain', NO_PRODUCED],
  [`${CONFIG_MAPS}/a?export=1&resourceVersion=x`, 'application/json', EXPORT],
  [`${CONFIG_MAPS}/a?export`, 'application/json', EXPORT],
  [`${CONFIG_MAPS}/a?export=x`, 'application/json', EXPORT],
  [`${CONFIG_MAPS}/a?export=False`, 'application/json', 'configmaps "a" not found'],
])('GET %s, which accepts %s', async (path, accept, message) => {
  await expect(ask(path, accept)).rejects.toThrow(message)
})
