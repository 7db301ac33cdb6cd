package com.example.chat;

import java.net.URI;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GoneException;

/** Sends a frame to all members of the workspace. */
public final class OnSay extends Route {
  private final Members members = new Members();
  private final ApiGatewayManagementApiClient connections =
      ApiGatewayManagementApiClient.builder()
          .endpointOverride(
              URI.create(System.getenv("CONNECTIONS_URL").replaceFirst("^ws", "http")))
          .build();

  @Override
  int handle(Map<String, Object> event, Map<String, Object> request) {
    String workspace = members.find(connectionId(request)).get("workspace").s();
    SdkBytes frame = SdkBytes.fromUtf8String(event.get("body").toString());
    for (String each : members.of(workspace)) {
      try {
        connections.postToConnection(post -> post.connectionId(each).data(frame));
      } catch (GoneException closed) {
        members.remove(each);
      }
    }
    return 200;
  }
}
