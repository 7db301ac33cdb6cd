// Signs in to the deployment's user pool: authorization code with PKCE (RFC 7636), as a public client.

import { CallFailed, call, forgetToken, keepToken } from "./api.js";

const PENDING = "sign-in";

const here = () => location.origin + location.pathname;

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

async function challengeOf(verifier) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

/** Goes to the pages of the user pool, which return here after the sign-in. */
export async function signIn({ domain, clientId }) {
  const state = random();
  const verifier = random();
  sessionStorage.setItem(PENDING, JSON.stringify({ state, verifier, fragment: location.hash }));
  location.assign(`${domain}/oauth2/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: here(),
    scope: "openid",
    state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: "S256",
  })}`);
}

/** Deletes the token and goes to the user pool's page that ends the sign-in there, too. */
export function signOut({ domain, clientId }) {
  forgetToken();
  location.assign(`${domain}/logout?${new URLSearchParams({ client_id: clientId, logout_uri: here() })}`);
}

/**
 * Exchanges the code in the address for a token, after the return from the user pool.
 *
 * @throws {CallFailed} if the sign-in failed, or was not started by this tab
 */
export async function completeSignIn(signInSettings) {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("code") && !answer.has("error")) {
    return;
  }
  const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? "{}");
  sessionStorage.removeItem(PENDING);
  history.replaceState(null, "", here() + (pending.fragment ?? ""));
  if (answer.has("error")) {
    throw new CallFailed(`Sign-in failed: ${answer.get("error_description") ?? answer.get("error")}.`, 401);
  }
  if (!signInSettings || !pending.state || pending.state !== answer.get("state")) {
    throw new CallFailed("Sign-in failed: this tab did not start it. Sign in again.", 401);
  }
  const { body } = await call(`${signInSettings.domain}/oauth2/token`, {
    method: "POST",
    form: {
      grant_type: "authorization_code",
      client_id: signInSettings.clientId,
      code: answer.get("code"),
      redirect_uri: here(),
      code_verifier: pending.verifier,
    },
  });
  keepToken(body.access_token);
}
