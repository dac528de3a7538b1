/** As the flags are set, and as the ConfigMap extension-apiserver-authentication tells extension servers. */
export const REQUEST_HEADERS = {
  allowedNames: ['front-proxy-client'],
  username: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
} as const
