/** The names as the flags are set. Extension servers read them in the ConfigMap extension-apiserver-authentication. */
export const REQUEST_HEADERS = {
  allowedNames: ['front-proxy-client'],
  username: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
} as const
