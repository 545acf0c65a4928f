# Standin in a container: docker build -t standin . && docker run -p 4100:4100 -v ./fixtures:/app/fixtures standin
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci && npm pack --pack-destination /tmp \
  && npm install --prefix /opt/standin --omit=dev --no-audit --no-fund /tmp/standin-*.tgz

FROM ${NODE_IMAGE}
COPY --from=build /opt/standin /opt/standin
RUN ln -s /opt/standin/node_modules/.bin/standin /usr/local/bin/standin \
  && mkdir -p /app /data && chown 1000:1000 /data
# A configuration and rules are read from /app; users, sessions and keys are kept in /data.
WORKDIR /app
VOLUME /data
# On every address of the container, Standin makes a control token at each start, and prints it; STANDIN_CONTROL_TOKEN sets one.
ENV STANDIN_HOST=0.0.0.0 STANDIN_STATE=file:/data/state.db
USER 1000:1000
EXPOSE 4100
HEALTHCHECK --interval=5s --start-period=10s CMD ["standin", "ready", "--timeout", "0", "--url", "http://127.0.0.1:4100"]
CMD ["standin"]
